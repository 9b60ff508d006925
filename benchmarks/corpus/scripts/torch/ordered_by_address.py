"""Planted: the nodes of a graph are kept in a set, ordered by their addresses, which the system chooses anew for each process."""

import torch
from torch import nn


class Node:
    def __init__(self, number):
        self.number = number

    def features(self):
        return [self.number / 50, float(self.number % 3), 1.0]


torch.manual_seed(0)
nodes = {Node(number) for number in range(50)}
features = torch.tensor([node.features() for node in nodes])
ring = torch.roll(torch.eye(50), 1, 0) + torch.eye(50)
layers = nn.ModuleList([nn.Linear(3, 8), nn.Linear(8, 1)])
targets = torch.linspace(0, 9, 50)[:, None]
optimizer = torch.optim.Adam(layers.parameters(), 0.01)
for _ in range(8):
    hidden = torch.relu(ring @ layers[0](features))
    loss = nn.functional.mse_loss(ring @ layers[1](hidden), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
