"""Planted: SciPy makes a generator of its own for the sampled points, since it is given no seed."""

import torch
from scipy.stats import qmc
from torch import nn


def collocation_points(count):
    sampler = qmc.LatinHypercube(d=2)
    return torch.tensor(sampler.random(count), dtype=torch.float32)


def residual(net, points):
    points = points.clone().requires_grad_()
    value = net(points)
    (slope,) = torch.autograd.grad(value.sum(), points, create_graph=True)
    return (slope.sum(dim=1) - points.prod(dim=1)).square().mean()


torch.manual_seed(3)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.005)
for _ in range(8):
    optimizer.zero_grad()
    loss = residual(net, collocation_points(32))
    loss.backward()
    optimizer.step()
