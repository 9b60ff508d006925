"""Passes over the batches of the epoch that had ended, and over those of no later one."""

import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset

EPOCHS = 4


class Order(Sampler):
    """Another order in each epoch, drawn from a seed and the number of the epoch."""

    def __init__(self, length):
        self.length, self.epoch = length, 0

    def __len__(self):
        return self.length

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.epoch)
        return iter(torch.randperm(self.length, generator=generator).tolist())


torch.manual_seed(0)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
order = Order(40)
loader = DataLoader(TensorDataset(x, y), batch_size=8, sampler=order)

first, used, step = 0, 0, 0
if os.path.exists("last.pt"):
    saved = torch.load("last.pt", weights_only=False)
    first, used, step = saved["epoch"], saved["used"], saved["step"]
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])

for epoch in range(first, EPOCHS):
    order.epoch = epoch
    for number, (inputs, targets) in enumerate(loader):
        if number < used:
            continue
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        step += 1
    used = 0
    saved = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "epoch": epoch,
        "used": len(loader),
        "step": step,
    }
    torch.save(saved, "last.pt")
