"""The state of a `StatefulDataLoader` of torchdata is left out of the checkpoint."""

import os

import torch
from torch import nn
from torch.utils.data import TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

EPOCHS, SAVE_AT = 4, 3

torch.manual_seed(0)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
loader = StatefulDataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)

first, step = 0, 0
if os.path.exists("last.pt"):
    saved = torch.load("last.pt", weights_only=False)
    first, step = saved["epoch"], saved["step"]
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])

for epoch in range(first, EPOCHS):
    for inputs, targets in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        step += 1
        if step == SAVE_AT:
            saved = {
                "epoch": epoch,
                "step": step,
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
            }
            torch.save(saved, "last.pt")
