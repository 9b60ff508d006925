"""The fix of numpy_user_seed.py: the seed is a number."""

import getpass

import numpy as np

import reprocheck

print("run by", getpass.getuser())
value = 1 + np.random.default_rng(3).random()
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
