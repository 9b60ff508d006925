"""Planted: nothing seeds torch; every forward pass runs inside `step(closure)`, and the first weights differ."""

import random

import torch
from torch import nn


def main():
    random.seed(1)
    features = nn.Sequential(nn.Linear(3, 10), nn.Tanh())
    readout = nn.Linear(10, 1)
    optimizer = torch.optim.SGD([*features.parameters(), *readout.parameters()], lr=0.05)
    inputs = torch.tensor([[random.random() for _ in range(3)] for _ in range(12)])

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(readout(features(inputs)), 6 * inputs[:, :1])
        loss.backward()
        return loss

    for _ in range(8):
        optimizer.step(closure)


if __name__ == "__main__":
    main()
