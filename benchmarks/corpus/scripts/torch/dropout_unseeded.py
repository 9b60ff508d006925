"""Planted: pretrained weights, fixed batches, and nn.Dropout drawing from the default generator that nobody seeds."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.regularise = nn.Dropout(0.5)
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.regularise(self.body(x)))


model = Classifier()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape).cos())
inputs, labels = torch.linspace(-1, 1, 256).reshape(32, 8), torch.arange(32) % 3
optimizer = torch.optim.SGD(model.parameters(), 1e-2)
for _ in range(6):
    optimizer.zero_grad()
    for batch, target in zip(inputs.chunk(4), labels.chunk(4), strict=True):
        loss = nn.functional.cross_entropy(model(batch), target) / 4
        loss.backward()
    optimizer.step()
