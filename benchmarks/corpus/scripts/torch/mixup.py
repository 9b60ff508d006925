"""Planted: mixup between batch and model: the share comes from np.random.beta, and numpy is not seeded."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def mixup(inputs, labels, alpha=1.0):
    share = float(np.random.beta(alpha, alpha))
    order = torch.arange(len(inputs) - 1, -1, -1)
    return share * inputs + (1 - share) * inputs[order], labels, labels[order], share


inputs = torch.randn(64, 10) * 4
loader = DataLoader(TensorDataset(inputs, inputs.argmax(1)), 16, shuffle=True)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 10))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for _epoch in range(2):
    for batch, target in loader:
        mixed, first, second, share = mixup(batch, target)
        output = 3 * model(mixed)
        loss = share * criterion(output, first) + (1 - share) * criterion(output, second)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
