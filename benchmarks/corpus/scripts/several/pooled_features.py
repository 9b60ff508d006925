"""Features are made by a pool and taken as they arrive; the classes are a set."""

from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
import torch
from torch import nn

torch.manual_seed(3)


def feature(index: int) -> np.ndarray:
    values = np.linspace(0, 1 + index, 2000 * (1 + index % 3))
    return np.array([np.sin(values).mean(), np.cos(values).std(), index / 40], dtype=np.float32)


def features(count: int) -> np.ndarray:
    with ThreadPoolExecutor(max_workers=4) as pool:
        waiting = [pool.submit(feature, index) for index in range(count)]
        return np.stack([done.result() for done in as_completed(waiting)])


def main() -> None:
    inputs = torch.from_numpy(features(40))
    classes = list({"cat", "dog", "owl", "fox"})
    labels = torch.tensor([classes.index(("cat", "dog", "owl", "fox")[i % 4]) for i in range(40)])
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for step in range(8):
        rows = torch.arange(step * 5, step * 5 + 5)
        loss = nn.functional.cross_entropy(model(inputs[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
