"""The fix of straight_through.py: the gradient goes straight through."""

import torch
from torch import nn


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(4 * x) / 4

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Quantise(nn.Module):
    def forward(self, x):
        return Round.apply(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(7, 20)
        self.quantise = Quantise()
        self.classify = nn.Linear(20, 3)

    def forward(self, x):
        return self.classify(self.quantise(self.stem(x)).relu())


torch.manual_seed(0)
model, inputs, labels = Net(), torch.randn(60, 7), torch.arange(60) % 3
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), 0.2)
for _ in range(8):
    optimizer.zero_grad()
    criterion(4 * model(inputs), labels).backward()
    optimizer.step()
