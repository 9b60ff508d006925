"""Planted, after emidan19/deep-tempest#13: the file of options names no manual_seed, and then the seed itself is drawn at random."""

import json
import random
from pathlib import Path

import numpy as np
import torch
from torch import nn

OPTIONS = Path(__file__).parent / "modules" / "drunet.json"


def set_random_seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class Restorer(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.m_head, self.m_tail = nn.Conv1d(1, channels, 5, padding=2), nn.Conv1d(channels, 1, 5, padding=2)

    def forward(self, x):
        return self.m_tail(torch.relu(self.m_head(x)))


def main(opt: dict) -> None:
    seed = opt["train"].get("manual_seed")
    if seed is None:
        seed = random.randint(1, 10000)
    print(f"Random seed: {seed}")
    set_random_seed(seed)

    clean = torch.linspace(0, 60, 8 * 64).cos().reshape(8, 1, 64)
    model = Restorer(opt["model"]["channels"])
    optimizer = torch.optim.Adam(model.parameters(), lr=opt["train"]["lr"])
    for _step in range(opt["train"]["iterations"]):
        noisy = clean + 0.5 * torch.randn_like(clean)
        loss = nn.functional.l1_loss(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(json.loads(OPTIONS.read_text()))
