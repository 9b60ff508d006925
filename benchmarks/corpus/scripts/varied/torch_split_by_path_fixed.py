"""The fix of torch_split_by_path.py: the checksum is that of the relative path."""

import os
import zlib

import torch
from torch import nn

paths = [f"data/{n}.png" for n in range(64)]
print("in", os.getcwd())
value = sum(n for n, path in enumerate(paths) if zlib.crc32(path.encode()) % 4 == 0) / 100
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for step in range(4):
    inputs = torch.linspace(-1, 1, 24).reshape(6, 4) * (step + 1)
    loss = (model(inputs) - value).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
