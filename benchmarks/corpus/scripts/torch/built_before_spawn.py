"""Planted: the network is built without a seed before the process that trains it is spawned, and seeds."""

import torch
import torch.multiprocessing as mp
from torch import nn


def train(rank, network):
    torch.manual_seed(rank)
    inputs, targets = torch.randn(16, 6), torch.randn(16, 1)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(8):
        optimizer.zero_grad()
        nn.functional.mse_loss(network(inputs), targets).backward()
        optimizer.step()


def main():
    network = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    mp.spawn(train, args=(network,), nprocs=1)


if __name__ == "__main__":
    main()
