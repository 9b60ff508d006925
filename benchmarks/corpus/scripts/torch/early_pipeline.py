"""Planted: a library's pipeline is made without a seed in a function that is called early; it draws in the middle of the training."""

import torch
from scipy.stats import qmc
from torch import nn


def make_pipeline():
    return qmc.Sobol(d=3, scramble=True)


def batch(pipeline, count):
    return torch.tensor(pipeline.random(count), dtype=torch.float32)


def train(network, pipeline):
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    for _ in range(8):
        points = batch(pipeline, 16)
        optimizer.zero_grad()
        nn.functional.mse_loss(network(points), 5 * points.prod(dim=1, keepdim=True)).backward()
        optimizer.step()


pipeline = make_pipeline()
torch.manual_seed(0)
train(nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)), pipeline)
