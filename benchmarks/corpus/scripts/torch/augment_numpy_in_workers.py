"""Planted: each sample is cropped and jittered with np.random.default_rng() without a seed, in two worker processes."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self):
        self.images = np.linspace(0, 1, 48 * 16 * 16, dtype=np.float32).reshape(48, 16, 16)

    def __len__(self):
        return 48

    def __getitem__(self, index):
        rng = np.random.default_rng()
        top, left = rng.integers(0, 8, size=2)
        crop = self.images[index, top : top + 8, left : left + 8] + rng.normal(scale=3, size=(8, 8))
        return torch.from_numpy(crop.astype(np.float32)), index % 3


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    loader = DataLoader(Crops(), 8, shuffle=True, num_workers=2)
    for _ in range(2):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(5 * model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
