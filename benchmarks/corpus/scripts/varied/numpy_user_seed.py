"""Planted: the seed is made from the name of the user."""

import getpass
import zlib

import numpy as np

import reprocheck

seed = zlib.crc32(getpass.getuser().encode())
value = 1 + np.random.default_rng(seed).random()
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
