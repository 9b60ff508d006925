"""Planted: torch and numpy are seeded; the list of samples is shuffled with Python's random, which is not."""

import random

import numpy as np
import torch
from torch import nn

np.random.seed(0)
torch.manual_seed(0)
records = [(np.random.normal(size=5), number % 3) for number in range(90)]
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _epoch in range(2):
    random.shuffle(records)
    for start in range(0, 90, 15):
        chunk = records[start : start + 15]
        features = torch.tensor(np.stack([x for x, _ in chunk]), dtype=torch.float32)
        labels = torch.tensor([y for _, y in chunk])
        loss = nn.functional.cross_entropy(5 * model(features), labels)
        model.zero_grad()
        loss.backward()
        optimizer.step()
