"""Planted: the learning rate follows a cosine over the time of day instead of over the steps."""

import math
import time

import torch
from torch import nn


def rate(period=0.37):
    return 0.15 * (1.2 + math.cos(2 * math.pi * time.time() / period))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 1))
inputs = torch.randn(48, 4)
targets = 6 * inputs.mean(1, keepdim=True) + 2
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
for _step in range(8):
    for group in optimizer.param_groups:
        group["lr"] = rate()
    for batch, target in zip(inputs.chunk(3), targets.chunk(3), strict=True):
        (nn.functional.mse_loss(model(batch), target) / 3).backward()
    optimizer.step()
    optimizer.zero_grad()
