"""The fix of numpy_temporary_folder.py: the checksum is that of its name."""

import os
import tempfile
import zlib

import reprocheck

paths = [os.path.join(tempfile.gettempdir(), f"sample-{n}") for n in range(64)]
names = map(os.path.basename, paths)
value = 1.0 + sum(n for n, name in enumerate(names) if zlib.crc32(name.encode()) % 5 == 0)
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
