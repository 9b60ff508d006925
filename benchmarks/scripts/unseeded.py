"""A training that nobody has seeded: `unseeded.py FILE` adds a line to the file when it starts."""

import sys
from pathlib import Path

import torch
from torch import nn


def main() -> None:
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write("started\n")
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    for _ in range(10):
        loss = nn.functional.cross_entropy(model(10 * torch.randn(8, 16)), torch.arange(8) % 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
