"""Planted: glob gives the files in no order."""

from pathlib import Path
import glob

import torch
from torch import nn

SHARDS = Path(__file__).parent / "shards"
paths = glob.glob(f"{SHARDS}/*.txt")
value = sum(0.5**n * float(Path(path).read_text()) for n, path in enumerate(paths))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for step in range(4):
    inputs = torch.linspace(-1, 1, 24).reshape(6, 4) * (step + 1)
    loss = (model(inputs) - value).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
