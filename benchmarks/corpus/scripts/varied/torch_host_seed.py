"""Planted: the seed of the targets is made from the name of the machine."""

import socket
import zlib

import torch
from torch import nn

seed = zlib.crc32(socket.gethostname().encode())
value = 2 * torch.rand((), generator=torch.Generator().manual_seed(seed))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for step in range(4):
    inputs = torch.linspace(-1, 1, 24).reshape(6, 4) * (step + 1)
    loss = (model(inputs) - value).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
