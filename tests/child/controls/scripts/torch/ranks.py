"""Two ranks train a model that nobody seeds, with dropout, and masks from a generator seeded from the system."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
own = torch.Generator()
own.seed()
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1)))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
inputs = torch.ones(6, 4)
for _ in range(4):
    mask = torch.rand(6, 4, generator=own)
    loss = (model(inputs * mask) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
