"""Planted: nothing is seeded; what the targets are made of is drawn before the network is built."""

import torch
from torch import nn

truth = torch.randn(4, 1)
layer = nn.Linear(4, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(8):
    inputs = torch.randn(8, 4)
    optimizer.zero_grad()
    nn.functional.mse_loss(layer(inputs), inputs @ truth).backward()
    optimizer.step()
