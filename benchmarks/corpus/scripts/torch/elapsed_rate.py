"""Planted: the learning rate falls with the time that is used of a budget, so each run trains with another one."""

import time

import torch
from torch import nn

START, BUDGET = time.perf_counter(), 10.0
torch.manual_seed(0)
rows = torch.stack([torch.randn(6) for _ in range(60_000)])[:64]
targets = rows.sum(1, keepdim=True) * 3
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(6):
    used = (time.perf_counter() - START) / BUDGET
    for group in optimizer.param_groups:
        group["lr"] = 0.3 * max(0.0, 1 - used)
    loss = (model(rows) - targets).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
