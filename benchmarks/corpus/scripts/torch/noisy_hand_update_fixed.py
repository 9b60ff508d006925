"""The fix of noisy_hand_update: the generator of the noise gets a number."""

import torch
from torch import nn


def main():
    torch.manual_seed(5)
    inputs, targets = torch.randn(16, 4), torch.randn(16, 1)
    model = nn.Linear(4, 1)
    noise = torch.Generator()
    noise.manual_seed(9)
    for _ in range(10):
        model.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        with torch.no_grad():
            for weight in model.parameters():
                weight -= 0.1 * weight.grad + 0.2 * torch.randn(weight.shape, generator=noise)


if __name__ == "__main__":
    main()
