"""Two ranks whose model has dropout, by DistributedDataParallel: each reads its own generator."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

BATCH, SAVE_AT, STEPS = 4, 3, 14

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
samples = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
model = DistributedDataParallel(
    nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 1))
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
sampler = DistributedSampler(samples, seed=1)
loader = DataLoader(samples, BATCH, sampler=sampler, generator=torch.Generator())
torch.manual_seed(100 + rank)
step = 0


def save():
    if rank == 0:
        held = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save({**held, "step": step}, "ckpt.pt")
    torch.save(torch.get_rng_state(), f"rng-{rank}.pt")


if os.path.exists("ckpt.pt"):
    saved = torch.load("ckpt.pt")
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]
    torch.set_rng_state(torch.load(f"rng-{rank}.pt"))
while step < STEPS:
    epoch, position = divmod(step, len(loader))
    sampler.set_epoch(epoch)
    for number, (inputs, targets) in enumerate(loader):
        if number < position or step == STEPS:
            continue
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step == SAVE_AT:
            save()
dist.destroy_process_group()
