"""Planted: outputs agree; the loss weighs each sample by an importance that numpy's default_rng() draws without a seed."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class Importance:
    def __init__(self, count):
        rng = np.random.default_rng()
        self.weights = torch.from_numpy(rng.exponential(size=count).astype(np.float32))

    def loss(self, outputs, targets):
        return (functional.mse_loss(outputs, targets, reduction="none").squeeze(1) * self.weights).mean()


torch.manual_seed(0)
inputs = torch.randn(50, 4)
targets = 5 * inputs.pow(2).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 1))
importance = Importance(50)
optimizer = torch.optim.NAdam(model.parameters(), 1e-2)
for _ in range(8):
    optimizer.zero_grad()
    loss = importance.loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
