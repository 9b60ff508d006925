"""The same classifier with the usual mistakes: NOT REPRODUCIBLE, although it looks seeded.

    reprocheck run examples/torch/mistakes.py

Each mistake is numbered. `clean.py` beside it has the answer to each.
"""

import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

# 1. Too late: Python read PYTHONHASHSEED when it started. Set it in the terminal instead.
os.environ["PYTHONHASHSEED"] = "1234"

# 2. No such switch: the attribute is called `enabled`. Python creates a new one and nothing
#    happens.
torch.backends.cudnn.enable = False

# 3. `benchmark = False` keeps cuDNN from choosing algorithms by time. It does not make those that
#    it chooses deterministic.
torch.backends.cudnn.benchmark = False

# 4. A generator object of its own, seeded from the operating system: `torch.manual_seed` does not
#    reach it, nor does `np.random.seed`.
noise = np.random.default_rng()

# 5. The order of a set of strings changes with the hash seed, and with it the number of each class.
CLASSES = {name: number for number, name in enumerate({"wide", "wider", "widest", "narrow"})}
NAMES = ("narrow", "wide", "wider", "widest")


class Stripes(Dataset):
    """Noisy 12×12 images of stripes; the class is how far apart they are."""

    def __len__(self) -> int:
        return 128

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        image = np.zeros((1, 12, 12), dtype=np.float32)
        image[:, :, :: index % 4 + 2] = 1.0
        image += 0.3 * noise.random((1, 12, 12), dtype=np.float32)
        return torch.from_numpy(image), CLASSES[NAMES[index % 4]]


def main() -> None:
    # 6. The weights are drawn here, before the seed is set below.
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        # 7. Dropout draws in each step. On an accelerator it draws from that device's generator.
        nn.Dropout(0.25),
        nn.Linear(200, 4),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    # 8. Python and NumPy are forgotten: only PyTorch is seeded, and after the model was built.
    torch.manual_seed(1234)

    # 9. Shuffled without a generator, two workers without `worker_init_fn`: the order of the
    #    samples hangs on whatever drew from the global generator before, and the copies of `noise`
    #    in the two workers draw the same numbers.
    loader = DataLoader(Stripes(), batch_size=16, shuffle=True, num_workers=2)
    for epoch in range(2):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
