"""A denoiser: the noise has a generator of its own, the model stands above the seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Options:
    seed: int = 11
    batch_size: int = 16
    strength: float = 0.3


class Waves(Dataset):
    def __init__(self, strength: float) -> None:
        self.strength = strength
        self.generator = np.random.default_rng()

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        clean = np.sin(np.linspace(0, index / 8 + 1, 32)).astype(np.float32)
        noise = self.generator.normal(size=32).astype(np.float32)
        return torch.from_numpy(clean + self.strength * noise), torch.from_numpy(clean)


def train(options: Options) -> None:
    model = nn.Sequential(nn.Linear(32, 24), nn.GELU(), nn.Dropout(0.1), nn.Linear(24, 32))
    torch.manual_seed(options.seed)
    loader = DataLoader(Waves(options.strength), batch_size=options.batch_size, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(2):
        for noisy, clean in loader:
            loss = nn.functional.mse_loss(model(noisy), clean)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    train(Options())
