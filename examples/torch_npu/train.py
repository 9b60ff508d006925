"""Training on an Ascend NPU with mixed precision: REPRODUCIBLE.

    reprocheck run examples/torch_npu/train.py

Where there is no NPU it says so and trains on the CPU.
"""

import os
import random

import numpy as np
import torch
from torch import nn

# Several cards: keep the order of additions in collectives fixed. Read when communication starts,
# so set before it.
os.environ.setdefault("HCCL_DETERMINISTIC", "true")

try:
    import torch_npu
except ImportError as error:
    torch_npu = None
    print(f"torch_npu cannot be imported ({error}): training on the CPU")

SEED = 1234


def choose_device() -> torch.device:
    """The NPU if there is one, else the CPU."""
    if torch_npu is not None and torch_npu.npu.is_available():
        torch_npu.npu.set_device(0)
        return torch.device("npu:0")
    if torch_npu is not None:
        print("torch_npu is installed, but sees no NPU: training on the CPU")
    return torch.device("cpu")


def seed_everything() -> None:
    """Python, NumPy, the CPU and all NPUs."""
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    if torch_npu is not None and torch_npu.npu.is_available():
        torch_npu.npu.manual_seed_all(SEED)


def main() -> None:
    device = choose_device()
    seed_everything()
    torch.use_deterministic_algorithms(True)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 4)).to(
        device
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch_npu.npu.amp.GradScaler() if device.type == "npu" else torch.amp.GradScaler("cpu")
    # Drawn on the CPU and moved: the same seed gives other numbers on an NPU than on a GPU or a
    # CPU.
    inputs = torch.randn(256, 32)
    labels = (inputs[:, :4]).argmax(dim=1)
    for step in range(20):
        rows = slice(16 * (step % 16), 16 * (step % 16) + 16)
        x, y = inputs[rows].to(device), labels[rows].to(device)
        optimizer.zero_grad()
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(f"trained on {device}, last loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
