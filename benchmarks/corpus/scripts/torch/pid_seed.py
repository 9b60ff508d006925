"""Planted: a helper seeds everything, with the process id mixed in."""

import os
import random

import numpy as np
import torch
from torch import nn


def seed_everything(seed):
    seed += os.getpid()
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def batches(count):
    for _ in range(count):
        series = torch.randn(8, 12, 3).cumsum(1)
        yield series[:, :-1], series[:, -1, :1]


seed_everything(42)
encoder, readout = nn.GRU(3, 10, batch_first=True), nn.Linear(10, 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *readout.parameters()], 1e-2)
for past, following in batches(8):
    hidden, _ = encoder(past)
    loss = nn.functional.smooth_l1_loss(5 * readout(hidden[:, -1]), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
