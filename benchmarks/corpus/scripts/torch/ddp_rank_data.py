"""Planted, two ranks: weights are seeded alike, and each rank draws its shard of the data from the time and its rank."""

import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1)))
shard = torch.Generator().manual_seed(time.time_ns() % 2**31 + rank)
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for _ in range(6):
    inputs = 3 * torch.randn(16, 6, generator=shard)
    loss = (model(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
