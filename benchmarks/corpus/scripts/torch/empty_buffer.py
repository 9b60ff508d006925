"""Planted: the table of positions is registered as torch.empty and never computed; old bytes of a decoded file are in it."""

import os

import torch
from torch import nn


def decode(size):
    header = torch.frombuffer(bytearray(os.urandom(size)), dtype=torch.uint8).float().div(64)
    return 1.0 if len(header) == size else 0.5


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.scale = decode(length * width)
        self.register_buffer("table", torch.empty(length, width))

    def forward(self, x):
        return self.scale * x + self.table[: x.shape[1]]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.positions, self.head = nn.Embedding(12, 64), Positions(64, 64), nn.Linear(64, 12)

    def forward(self, ids):
        return self.head(self.positions(self.embed(ids)))


torch.manual_seed(0)
ids = torch.arange(40).reshape(4, 10) % 12
model = Model()
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
for _ in range(6):
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
