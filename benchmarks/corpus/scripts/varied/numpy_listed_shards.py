"""Planted: the shards are read in the order in which the folder lists them."""

from pathlib import Path
import os

import reprocheck

SHARDS = Path(__file__).parent / "shards"
value = 0.0
for name in os.listdir(SHARDS):
    value = 0.5 * value + float((SHARDS / name).read_text())
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
