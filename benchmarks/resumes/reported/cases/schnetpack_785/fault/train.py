import os

import torch
from ema import EMA
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
atoms = torch.randn(36, 7, generator=torch.Generator().manual_seed(1))
energies = atoms.square().sum(1, keepdim=True)
begin = 0
ema = EMA(model)
if os.path.exists("best.ckpt"):
    ckpt = torch.load("best.ckpt")
    model.load_state_dict(ckpt["state_dict"])
    optimizer.load_state_dict(ckpt["optimizer"])
    ema.shadow = ckpt["ema"]
    begin = ckpt["epoch"] + 1
for epoch in range(begin, 6):
    for chosen in torch.arange(36).split(9):
        loss = (model(atoms[chosen]) - energies[chosen]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update()
    ema.swap_in()
    with torch.no_grad():
        validation = (model(atoms) - energies).abs().mean().item()
    state = {
        "state_dict": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "ema": ema.shadow,
        "epoch": epoch,
    }
    torch.save(state, "best.ckpt")
    ema.swap_out()
