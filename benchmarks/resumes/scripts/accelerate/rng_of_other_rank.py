"""Two ranks whose model has dropout: behind `load_state`, all are given the generators of rank 0."""

import json
import os

import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration, set_seed, synchronize_rng_states
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 4
SEEDED = DataLoaderConfiguration(use_seedable_sampler=True)

set_seed(0)
accelerator = Accelerator(cpu=True, dataloader_config=SEEDED)
x = torch.randn(80, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
set_seed(100, device_specific=True)

first = 0
if os.path.exists("checkpoint/epochs.json"):
    accelerator.load_state("checkpoint")
    synchronize_rng_states(["torch"])
    with open("checkpoint/epochs.json") as file:
        first = json.load(file)

for epoch in range(first, EPOCHS):
    loader.set_epoch(epoch)
    for inputs, targets in loader:
        optimizer.zero_grad()
        accelerator.backward(nn.functional.mse_loss(model(inputs), targets))
        optimizer.step()
    accelerator.save_state("checkpoint")
    if accelerator.is_main_process:
        with open("checkpoint/epochs.json", "w") as file:
            json.dump(epoch + 1, file)
accelerator.end_training()
