"""Ranks that share a batch of 8, and each walk through a part of one order. Saved is
how many samples one rank has used.
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

BATCH, SAVE_AT, STEPS = 8, 3, 12

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
samples = TensorDataset(torch.randn(128, 8), torch.randn(128, 1))
order = torch.randperm(len(samples)).tolist()
model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
part = BATCH // ranks  # samples of this rank in each batch
step = used = 0
if os.path.exists("ckpt.pt"):
    saved = torch.load("ckpt.pt")
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step, used = saved["step"], saved["used"]
rest = order[rank::ranks][used:]
for inputs, targets in DataLoader(samples, part, sampler=rest, generator=torch.Generator()):
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    used += part
    if step == SAVE_AT and rank == 0:
        held = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save({**held, "step": step, "used": used}, "ckpt.pt")
    if step == STEPS:
        break
dist.destroy_process_group()
