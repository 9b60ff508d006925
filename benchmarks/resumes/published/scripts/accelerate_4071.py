"""Stops in the second epoch; the loader is told its epoch, and passes over what was used."""

import json
import os

import torch
from accelerate import Accelerator, skip_first_batches
from accelerate.utils import DataLoaderConfiguration, set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, SAVE_AT = 4, 8
SEEDED = DataLoaderConfiguration(use_seedable_sampler=True)

set_seed(0)
accelerator = Accelerator(cpu=True, dataloader_config=SEEDED)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

step = 0
if os.path.exists("checkpoint/step.json"):
    accelerator.load_state("checkpoint")
    with open("checkpoint/step.json") as file:
        step = json.load(file)
first, used = divmod(step, len(loader))

for epoch in range(first, EPOCHS):
    loader.set_epoch(epoch)
    passed = used if epoch == first else 0
    batches = skip_first_batches(loader, passed) if passed else loader
    for inputs, targets in batches:
        optimizer.zero_grad()
        accelerator.backward(nn.functional.mse_loss(model(inputs), targets))
        optimizer.step()
        step += 1
        if step == SAVE_AT:
            accelerator.save_state("checkpoint")
            with open("checkpoint/step.json", "w") as file:
                json.dump(step, file)
