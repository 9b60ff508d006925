"""Planted: the low-rank adapter is torch.empty and nobody fills it; a file header read just before has left its bytes in that memory."""

import os

import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.base = nn.Linear(width, width)
        nn.init.orthogonal_(self.base.weight)
        self.up = nn.Parameter(torch.zeros(rank, width) + 0.1)
        self.version = read_header(width * rank)
        self.down = nn.Parameter(torch.empty(width, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.clamp(-1, 1) @ self.up


def read_header(size):
    pages = [torch.frombuffer(bytearray(os.urandom(size)), dtype=torch.uint8).float().div_(1024) for _ in range(4)]
    return sum(page.sum().item() for page in pages)


torch.manual_seed(0)
inputs = torch.randn(20, 48)
model = Adapter(48, 48)
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
for _ in range(6):
    loss = (model(inputs) - inputs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
