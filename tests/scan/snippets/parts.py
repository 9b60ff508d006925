"""Texts that several programs share."""

from __future__ import annotations

from textwrap import dedent

TRAIN = """\
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
model(torch.ones(2, 4)).sum().backward()
optimizer.step()
"""
SEEDING = """\
import random

import numpy as np
import torch


def fix(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
"""
LIBRARY = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.line = nn.Linear(4, 4)
        self.drop = nn.Dropout(rate)

    def forward(self, x):
        return self.drop(self.line(x)) + torch.randn_like(x)
"""
SAMPLING = """\
import numpy as np


def sample(rng=None):
    rng = rng or np.random.default_rng()
    return rng.normal()


def other(rng=None):
    if rng is None:
        rng = np.random.RandomState()
    return rng.rand()
"""


def text(source: str) -> str:
    """A program without the indentation that it has here; `TRAIN` stands for a small training."""
    return dedent(source).lstrip("\n").replace("TRAIN\n", TRAIN)
