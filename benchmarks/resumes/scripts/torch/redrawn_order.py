"""The order of the epoch is drawn from the default generator, and again after the resume."""

import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, SAVE_AT = 4, 3


torch.manual_seed(0)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)

first, used, step = 0, 0, 0
if os.path.exists("last.pt"):
    saved = torch.load("last.pt", weights_only=False)
    first, used, step = saved["epoch"], saved["used"], saved["step"]
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["rng"])

for epoch in range(first, EPOCHS):
    for number, (inputs, targets) in enumerate(loader):
        if epoch == first and number < used:
            continue
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        step += 1
        if step == SAVE_AT:
            saved = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "epoch": epoch,
                "used": number + 1,
                "step": step,
                "rng": torch.get_rng_state(),
            }
            torch.save(saved, "last.pt")
