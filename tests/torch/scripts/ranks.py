"""DistributedDataParallel on CPU processes of torchrun: `ranks.py [fault]`. With `fault` rank 1 alone draws noise without a seed."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(6, 1))
torch.manual_seed(1 + rank)
inputs = torch.randn(16, 6)
targets = inputs.sum(1, keepdim=True)
if rank == 1 and "fault" in sys.argv:
    targets += 10 * torch.randn(1, generator=torch.Generator().manual_seed(torch.Generator().seed()))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for _ in range(8):
    loss = (model(inputs) - targets).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    print(f"rank {rank} {loss.item().hex()}\n", end="", flush=True)
    optimizer.step()
dist.destroy_process_group()
