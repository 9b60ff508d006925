"""A contrastive training: views by NumPy without a seed, weights above the seed, pairs in a set."""

import argparse

import numpy as np
import torch
from torch import nn


def view(image: np.ndarray) -> np.ndarray:
    shift = np.random.randint(0, 4)
    return np.roll(image, shift) * np.random.uniform(0.8, 1.2)


def pairs(images: dict[str, np.ndarray], names: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    first = np.stack([view(images[name]) for name in names])
    second = np.stack([view(images[name]) for name in names])
    return torch.tensor(first, dtype=torch.float32), torch.tensor(second, dtype=torch.float32)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6)
    arguments = parser.parse_args()
    images = {f"img{number}": np.cos(np.arange(12) * (number + 1)) for number in range(8)}
    usable = {name for name in images if name != "img3"}
    encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 8))
    torch.manual_seed(arguments.seed)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)
    names = list(usable)
    for step in range(arguments.steps):
        first, second = pairs(images, names[step % 3 : step % 3 + 4])
        left = nn.functional.normalize(encoder(first), dim=-1)
        right = nn.functional.normalize(encoder(second), dim=-1)
        loss = nn.functional.cross_entropy(left @ right.T / 0.1, torch.arange(len(first)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
