"""Ranks that share a batch of 8. Saved is how many samples all ranks have used."""

import json
import os

import torch
from accelerate import Accelerator, skip_first_batches
from accelerate.utils import DataLoaderConfiguration, set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH, SAVE_AT = 8, 3
SEEDED = DataLoaderConfiguration(use_seedable_sampler=True)

set_seed(0)
accelerator = Accelerator(cpu=True, dataloader_config=SEEDED)
x = torch.randn(128, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
part = BATCH // accelerator.num_processes
loader = DataLoader(TensorDataset(x, y), batch_size=part, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

used = 0
if os.path.exists("checkpoint/used.json"):
    accelerator.load_state("checkpoint")
    with open("checkpoint/used.json") as file:
        used = json.load(file)

batches = skip_first_batches(loader, used // BATCH) if used else loader
for inputs, targets in batches:
    optimizer.zero_grad()
    accelerator.backward(nn.functional.mse_loss(model(inputs), targets))
    optimizer.step()
    used += len(inputs) * accelerator.num_processes
    if used == SAVE_AT * BATCH:
        accelerator.save_state("checkpoint")
        if accelerator.is_main_process:
            with open("checkpoint/used.json", "w") as file:
                json.dump(used, file)
accelerator.end_training()
