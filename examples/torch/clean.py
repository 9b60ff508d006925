"""A small image classifier whose every source of randomness is seeded: REPRODUCIBLE, bit for bit.

reprocheck run examples/torch/clean.py
"""

import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 1234


class Stripes(Dataset):
    """Noisy 12×12 images of stripes; the class is how far apart they are.

    The noise is drawn in the loader's workers.
    """

    def __len__(self) -> int:
        return 128

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        label = index % 4
        image = np.zeros((1, 12, 12), dtype=np.float32)
        image[:, :, :: label + 2] = 1.0
        image += 0.3 * np.random.rand(1, 12, 12).astype(np.float32)
        return torch.from_numpy(image), label


def seed_everything() -> None:
    """Before anything draws: Python, NumPy, PyTorch (CPU and every accelerator)."""
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)


def seed_worker(_: int) -> None:
    """Each worker process of the loader starts from a seed that derives from the loader's
    generator.
    """
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)


def main() -> None:
    seed_everything()
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(200, 4),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    order = torch.Generator().manual_seed(SEED)
    loader = DataLoader(
        Stripes(),
        batch_size=16,
        shuffle=True,
        num_workers=2,
        worker_init_fn=seed_worker,
        generator=order,
    )
    for epoch in range(2):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
