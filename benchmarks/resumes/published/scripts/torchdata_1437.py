"""Stops at the end of an epoch; the state of the loader is saved and loaded with the rest."""

import os

import torch
from torch import nn
from torch.utils.data import TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

EPOCHS = 2

torch.manual_seed(0)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
loader = StatefulDataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)

first = 0
if os.path.exists("state.pt"):
    kept = torch.load("state.pt")
    first = kept["epoch"]
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    loader.load_state_dict(kept["loader"])

for epoch in range(first, EPOCHS):
    for inputs, targets in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    kept = {
        "epoch": epoch + 1,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "loader": loader.state_dict(),
    }
    torch.save(kept, "state.pt")
