"""A training of ten iterations and a few seconds, the import of torch included."""

import torch
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 28 * 28, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for _ in range(10):
        loss = nn.functional.cross_entropy(
            model(torch.randn(64, 3, 32, 32)), torch.randint(0, 10, (64,))
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
