"""Planted: the classes are collected in a set of str and numbered in its order, which string hashing changes in each process."""

import torch
from torch import nn

SPECIES = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "hazel", "alder", "birch", "cedar", "maple", "pine", "rowan", "lime"]


class Table:
    def __init__(self, rows):
        self.features = torch.stack([features for features, _ in rows])
        classes = {name for _, name in rows}
        number = {name: index for index, name in enumerate(classes)}
        self.labels = torch.tensor([number[name] for _, name in rows])


def train(model, table, epochs):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = criterion(model(table.features), table.labels)
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
rows = [(torch.randn(6) * 3, SPECIES[index % 16]) for index in range(64)]
train(nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 16)), Table(rows), 8)
