"""Stochastic training of an emulator; a preempted job goes on from its last checkpoint."""

import os
import random

import numpy as np
import torch
from torch import nn


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def build():
    return nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.2), nn.ReLU(), nn.Linear(16, 5))


def main(path="ckpt/latest.ckpt", steps=24):
    set_seed(7)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    series = torch.randn(steps + 8, 8, 5, generator=torch.Generator().manual_seed(1))
    step = 0
    if os.path.isfile(path):
        saved = torch.load(path, weights_only=False)
        model.load_state_dict(saved["module"])
        optimizer.load_state_dict(saved["optimization"])
        step = saved["step"]
    while step < steps:
        ahead = int(np.random.randint(1, 4))
        loss = (model(series[step]) - series[step + ahead]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            data = {
                "module": model.state_dict(),
                "optimization": optimizer.state_dict(),
                "step": step,
            }
            torch.save(data, path + ".tmp")
            os.replace(path + ".tmp", path)


if __name__ == "__main__":
    main()
