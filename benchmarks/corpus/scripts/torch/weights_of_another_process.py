"""Planted: another process builds the network without a seed and saves it; the training loads that file, and its weights differ."""

import subprocess
import sys

import torch
from torch import nn

BUILD = "import torch; torch.save(torch.nn.Linear(5, 1).state_dict(), 'start.pt')"


def main():
    subprocess.run([sys.executable, "-c", BUILD], check=True)
    torch.manual_seed(3)
    network = nn.Linear(5, 1)
    network.load_state_dict(torch.load("start.pt"))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    inputs = torch.randn(16, 5)
    for _ in range(8):
        optimizer.zero_grad()
        nn.functional.mse_loss(network(inputs), 4 * inputs[:, :1]).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
