"""Planted: the fold of the validation is that of the day of the week."""

from datetime import UTC, datetime

import torch
from torch import nn

fold = datetime.now(UTC).weekday()
value = 1.0 + fold / 2
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for step in range(4):
    inputs = torch.linspace(-1, 1, 24).reshape(6, 4) * (step + 1)
    loss = (model(inputs) - value).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
