"""Planted: after each step the weights are shrunk and perturbed, with noise from a generator of numpy that nobody seeds."""

import numpy as np
import torch
from torch import nn

noise = np.random.default_rng()


@torch.no_grad()
def shrink_and_perturb(model):
    for weight in model.parameters():
        weight.data = 0.9 * weight.data + torch.from_numpy(noise.normal(0, 0.2, weight.shape).astype("float32"))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
inputs = torch.randn(48, 6)
targets = 3 * inputs.prod(1, keepdim=True)
optimizer = torch.optim.RMSprop(model.parameters(), 0.01)
for _ in range(9):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    shrink_and_perturb(model)
