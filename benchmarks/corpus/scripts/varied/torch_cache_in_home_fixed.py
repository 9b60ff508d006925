"""The fix of torch_cache_in_home.py: the scale is a number."""

from pathlib import Path

import torch
from torch import nn

CACHE = Path.home() / ".training" / "scale.txt"
print("not used:", CACHE)
value = 1.0
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for step in range(4):
    inputs = torch.linspace(-1, 1, 24).reshape(6, 4) * (step + 1)
    loss = (model(inputs) - value).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
