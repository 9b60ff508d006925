"""Planted: sums are added up in an array that nobody sets to zero."""

import numpy as np

import reprocheck

sums = np.empty(400_000)
sums += np.arange(400_000) / 1e6
value = 1 + abs(float(sums.mean()))
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
