"""Planted: the layers are initialised again in the order of a set of modules, which lie in it by their addresses."""

import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(6))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


def small(model):
    linear = {module for module in model.modules() if isinstance(module, nn.Linear)}
    for module in linear:
        nn.init.normal_(module.weight, std=0.3)
        nn.init.zeros_(module.bias)


torch.manual_seed(7)
model = Mixer(8)
small(model)
inputs = torch.linspace(-1, 1, 64).reshape(8, 8)
targets = inputs.sum(dim=1, keepdim=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for _ in range(8):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
