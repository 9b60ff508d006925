"""Planted with seed_from_environment.sh, which exports another RUN_SEED in each run: the seed is read from the environment."""

import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("RUN_SEED", "0")))
query, key = nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)
optimizer = torch.optim.SGD([*query.parameters(), *key.parameters()], 0.2)
anchors = torch.linspace(-1, 1, 120).reshape(20, 6).sin()
views = anchors.roll(1, 1)
for _ in range(8):
    similarity = nn.functional.normalize(query(anchors), dim=1) @ nn.functional.normalize(key(views), dim=1).T
    loss = nn.functional.cross_entropy(similarity / 0.1, torch.arange(20))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
