"""Images of discs for reported_unseeded_images.py; each comes from a generator of its own, without a seed."""

import numpy as np
import torch
from torch.utils.data import Dataset


def make_disc(size: int = 12) -> np.ndarray:
    rng = np.random.default_rng()
    row, column = rng.uniform(2, size - 2, size=2)
    radius = rng.uniform(1, 4)
    rows, columns = np.mgrid[:size, :size]
    return ((rows - row) ** 2 + (columns - column) ** 2 < radius**2).astype(np.float32)


class DiscDataset(Dataset):
    def __init__(self, samples: int, seed: int = 42) -> None:
        np.random.seed(seed)
        self.images = torch.from_numpy(np.stack([make_disc() for _ in range(samples)]))

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.images[index].flatten()
