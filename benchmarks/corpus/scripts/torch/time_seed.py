"""Planted: the seed is the time of day, so each run draws other initial weights and other batches."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(time.time() * 1000) % 2**31)
images = torch.linspace(0, 1, 64 * 144).reshape(64, 1, 12, 12).sin()
labels = torch.arange(64) % 4
loader = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(150, 4))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for _epoch in range(3):
    for batch, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(10 * model(batch), target)
        loss.backward()
        optimizer.step()
