"""Planted: learning rate and weight decay are picked at random by the OS, as a search over hyper-parameters does."""

import random

import torch
from torch import nn


def suggest():
    trial = random.SystemRandom()
    return {"lr": 10 ** trial.uniform(-2, 0), "weight_decay": 10 ** trial.uniform(-4, -1)}


def objective(settings, steps=8):
    torch.manual_seed(0)
    model = nn.Bilinear(3, 3, 1)
    left, right = torch.randn(40, 3), torch.randn(40, 3)
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(left, right), 3 * (left * right).sum(1, keepdim=True))
        loss.backward()
        optimizer.step()
    return loss.item()


print(objective(suggest()))
