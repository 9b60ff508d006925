"""Planted: each of three spawned processes trains a network of its own, from a seed that holds its process number."""

import multiprocessing
import os

import torch
from torch import nn


def train(member):
    torch.manual_seed(1000 * member + os.getpid())
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
