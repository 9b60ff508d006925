"""FSDP2 on two ranks, saved with `torch.distributed.checkpoint.async_save`: both are loaded."""

import os

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

SAVE_AT, STEPS = 3, 12

dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
fully_shard(model[0])
fully_shard(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
own = torch.Generator().manual_seed(dist.get_rank())
inputs = torch.randn(STEPS, 4, 8, generator=own)
targets = torch.randn(STEPS, 4, 1, generator=own)


def held(step):
    weights, states = get_state_dict(model, optimizer)
    return {"model": weights, "optimizer": states, "step": torch.tensor(step)}


step = 0
if os.path.exists("ckpt/.metadata"):
    saved = held(step)
    dcp.load(saved, checkpoint_id="ckpt")
    states = {"model_state_dict": saved["model"], "optim_state_dict": saved["optimizer"]}
    set_state_dict(model, optimizer, **states)
    step = int(saved["step"])
while step < STEPS:
    loss = nn.functional.mse_loss(model(inputs[step]), targets[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step == SAVE_AT:
        writing = dcp.async_save(held(step), checkpoint_id="ckpt")
dist.destroy_process_group()
