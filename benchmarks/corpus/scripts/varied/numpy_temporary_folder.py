"""Planted: a sample is of the validation set where the checksum of its temporary path says so."""

import os
import tempfile
import zlib

import reprocheck

paths = [os.path.join(tempfile.gettempdir(), f"sample-{n}") for n in range(64)]
value = 1.0 + sum(n for n, path in enumerate(paths) if zlib.crc32(path.encode()) % 5 == 0)
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
