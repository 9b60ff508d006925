"""Planted: nothing is seeded; JAX is imported, as libraries do, and draws nothing."""

import jax
import torch
from torch import nn

network = nn.Linear(4, 1)
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
inputs = torch.linspace(-1, 1, 32).reshape(8, 4)
for _ in range(8):
    optimizer.zero_grad()
    network(inputs).square().mean().backward()
    optimizer.step()
print(jax.__version__)
