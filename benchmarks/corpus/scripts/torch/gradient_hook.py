"""Planted: a hook on one weight adds noise to its gradient from a generator without a seed."""

import numpy as np
import torch
from torch import nn

noise = np.random.default_rng()


def jitter(gradient):
    return gradient + torch.from_numpy(3 * noise.standard_normal(gradient.shape, dtype=np.float32))


torch.manual_seed(0)
tower = nn.ModuleDict({"left": nn.Linear(5, 6), "right": nn.Linear(5, 6)})
tower["right"].weight.register_hook(jitter)
optimizer = torch.optim.SGD(tower.parameters(), 0.1)
users, items = torch.randn(40, 5), torch.randn(40, 5)
match = (users * items).sum(1)
for _ in range(8):
    score = (tower["left"](users) * tower["right"](items)).sum(1)
    loss = nn.functional.mse_loss(score, match)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
