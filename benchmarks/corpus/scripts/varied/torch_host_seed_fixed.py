"""The fix of torch_host_seed.py: the seed is a number."""

import socket

import torch
from torch import nn

print("on", socket.gethostname())
value = 2 * torch.rand((), generator=torch.Generator().manual_seed(5))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for step in range(4):
    inputs = torch.linspace(-1, 1, 24).reshape(6, 4) * (step + 1)
    loss = (model(inputs) - value).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
