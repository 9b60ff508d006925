"""The fix of manual_langevin.py: the noise has a seed."""

import torch
from torch import nn

torch.manual_seed(0)
noise = torch.Generator()
noise.manual_seed(3)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
inputs = torch.randn(40, 3)
targets = 3 * inputs.sum(1, keepdim=True)
for _ in range(8):
    loss = nn.functional.mse_loss(model(inputs), targets)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.05 * parameter.grad
            parameter += 0.2 * torch.randn(parameter.shape, generator=noise)
