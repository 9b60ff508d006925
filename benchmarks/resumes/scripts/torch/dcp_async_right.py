"""`async_save` of torch.distributed.checkpoint, in a single process without a process group."""

import os

import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.utils.data import DataLoader, TensorDataset

STEPS, SAVE_AT = 18, 4

torch.manual_seed(0)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
batches = list(DataLoader(TensorDataset(x, y), batch_size=8))


def held(step):
    weights, states = get_state_dict(model, optimizer)
    rate = scheduler.state_dict()
    return {"model": weights, "optimizer": states, "scheduler": rate, "step": step}


def load():
    kept = held(0)
    dcp.load(kept, checkpoint_id="last")
    set_state_dict(
        model, optimizer, model_state_dict=kept["model"], optim_state_dict=kept["optimizer"]
    )
    scheduler.load_state_dict(kept["scheduler"])
    return kept["step"]


writing = None
begin = load() if os.path.exists("last/.metadata") else 0
for step in range(begin, STEPS):
    inputs, targets = batches[step % len(batches)]
    optimizer.zero_grad()
    nn.functional.mse_loss(model(inputs), targets).backward()
    optimizer.step()
    scheduler.step()
    if step + 1 == SAVE_AT:
        writing = dcp.async_save(held(step + 1), checkpoint_id="last")
if writing is not None:
    writing.result()
