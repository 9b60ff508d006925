"""Planted: samples are packed to the width of the terminal."""

import shutil

import reprocheck

length = shutil.get_terminal_size().columns
value = float(len("sample " * 100) % length) + 1
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
