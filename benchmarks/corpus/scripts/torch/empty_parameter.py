"""Planted: the low-rank adapter is torch.empty and nobody fills it; an earlier buffer has left its bytes in that memory."""

import os

import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.base = nn.Linear(width, width)
        self.down = nn.Parameter(torch.empty(width, rank))
        self.up = nn.Parameter(torch.zeros(rank, width) + 0.1)
        nn.init.orthogonal_(self.base.weight)

    def forward(self, x):
        return self.base(x) + x @ self.down @ self.up


def read_header(size):
    return torch.frombuffer(bytearray(os.urandom(size)), dtype=torch.uint8).float().div(32).sum()


torch.manual_seed(0)
inputs = torch.randn(20, 48)
read_header(48 * 48)
model = Adapter(48, 48)
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
for _ in range(6):
    loss = (model(inputs) - inputs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
