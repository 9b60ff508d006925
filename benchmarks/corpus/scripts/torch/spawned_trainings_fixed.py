"""The fix of spawned_trainings.py: three spawned processes train a network each, at the same time, from the seed of their place."""

import multiprocessing

import torch
from torch import nn


def train(member):
    torch.manual_seed(1000 * member)
    inputs = torch.linspace(-1, 1, 32).reshape(8, 4)
    network = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(8):
        optimizer.zero_grad()
        (network(inputs) - member - 1).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    members = [context.Process(target=train, args=(member,)) for member in range(3)]
    for process in members:
        process.start()
    for process in members:
        process.join()
