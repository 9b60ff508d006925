"""Planted: a module of the user's draws the weights of the classes while it is imported, above the seeds."""

import numpy
import torch
from modules import drawn_weights
from torch import nn

torch.manual_seed(0)
numpy.random.seed(0)
network = nn.Linear(6, 4)
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
inputs = torch.randn(32, 6)
labels = inputs[:, :4].argmax(dim=1)
criterion = nn.CrossEntropyLoss(weight=torch.tensor(drawn_weights.WEIGHTS, dtype=torch.float32))
for _ in range(8):
    optimizer.zero_grad()
    criterion(network(inputs), labels).backward()
    optimizer.step()
