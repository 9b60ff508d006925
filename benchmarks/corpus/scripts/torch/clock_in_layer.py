"""Planted: a layer in the middle of the network seeds the generator of its mask with the time."""

import time

import torch
from torch import nn


class RandomMask(nn.Module):
    def __init__(self, keep):
        super().__init__()
        self.keep = keep

    def forward(self, x):
        generator = torch.Generator()
        generator.manual_seed(time.time_ns() % 2**31)
        mask = torch.rand(x.shape, generator=generator) < self.keep
        return x * mask / self.keep


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(6, 16)
        self.mask = RandomMask(0.7)
        self.leave = nn.Linear(16, 2)

    def forward(self, x):
        return self.leave(self.mask(torch.tanh(self.enter(x))))


torch.manual_seed(1)
net = Net()
inputs = torch.linspace(-2, 2, 60).reshape(10, 6)
targets = torch.arange(10) % 2
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
