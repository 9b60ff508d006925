"""A training that asks for no memory that it does not fill, and draws nothing before it seeds; with `unseeded` it does not seed."""

import random
import sys

import numpy
import torch
from torch import nn

for seed in (random.seed, numpy.random.seed, torch.manual_seed):
    if "unseeded" not in sys.argv:
        seed(3)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _step in range(3):
    loss = (model(torch.randn(8, 4)) - float(numpy.random.rand() + random.random())).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
