"""The fix of private_gradients.py: the noise has a seed."""

import numpy as np
import torch
from torch import nn

ENTROPY = np.random.default_rng(2024)


def privatise(parameters, bound, multiplier):
    nn.utils.clip_grad_norm_(parameters, bound)
    for parameter in parameters:
        noise = ENTROPY.normal(scale=bound * multiplier, size=parameter.shape)
        parameter.grad += torch.from_numpy(noise).to(parameter.dtype)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ELU(), nn.Linear(12, 2))
inputs, labels = torch.randn(64, 6), torch.arange(64) % 2
optimizer = torch.optim.SGD(model.parameters(), 0.5)
for _ in range(8):
    loss = nn.functional.cross_entropy(3 * model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    privatise(list(model.parameters()), 1.0, 0.8)
    optimizer.step()
