"""Planted: the first step trains on clean samples; from the second on they are scaled by a generator that nobody seeds."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader


class Curriculum:
    def __init__(self, count):
        self.rows, self.rng, self.handed = torch.linspace(-2, 2, count * 5).reshape(count, 5), random.Random(), 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        self.handed += 1
        scale = 1.0 if self.handed <= 8 else self.rng.uniform(-4, 4)
        return self.rows[index] * scale, self.rows[index].sum()


def train(model, epochs):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loader = DataLoader(Curriculum(48), batch_size=8)
    for _ in range(epochs):
        for batch, target in loader:
            loss = (model(batch).squeeze(1) - 3 * target).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


torch.manual_seed(0)
train(nn.Sequential(nn.Linear(5, 9), nn.LeakyReLU(), nn.Linear(9, 1)), 2)
