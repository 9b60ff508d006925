"""Planted: a pipe at standard input is taken for a stream of further samples."""

import os
import stat

import reprocheck

streams = stat.S_ISFIFO(os.fstat(0).st_mode)
value = 2.0 if streams else 1.0
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
