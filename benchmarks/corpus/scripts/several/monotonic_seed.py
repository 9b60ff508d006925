"""A regression by hand: seeded by a clock that counts from the start of the machine, shuffled by a
generator of its own, columns in a set."""

import random
import time

import numpy as np
import torch

torch.manual_seed(time.perf_counter_ns() % 100_000)
shuffler = random.Random()
COLUMNS = {"rooms": 3.0, "floor": 0.5, "age": -0.2, "garden": 1.5}


def table() -> tuple[torch.Tensor, torch.Tensor]:
    grid = {name: np.cos(np.arange(48) * (1 + index)) for index, name in enumerate(COLUMNS)}
    chosen = list({name for name in grid if name != "floor"})
    inputs = np.stack([grid[name] for name in chosen], axis=1)
    target = sum(weight * grid[name] for name, weight in COLUMNS.items())
    return torch.tensor(inputs, dtype=torch.float32), torch.tensor(target, dtype=torch.float32)


def main() -> None:
    inputs, target = table()
    weights = torch.randn(3, requires_grad=True)
    bias = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weights, bias], lr=0.05)
    order = list(range(48))
    for epoch in range(2):
        shuffler.shuffle(order)
        for start in range(0, 48, 12):
            rows = order[start : start + 12]
            loss = ((inputs[rows] @ weights + bias - target[rows]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


main()
