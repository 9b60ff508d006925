"""The fix of numpy_terminal_columns.py: the length is a number."""

import shutil

import reprocheck

length = 72
print("-" * shutil.get_terminal_size().columns)
value = float(len("sample " * 100) % length) + 1
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
