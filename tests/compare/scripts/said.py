"""Losses that a script says itself: no framework is needed. `python said.py [START [noise]]`."""

import random
import sys

import reprocheck

start = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
if len(sys.argv) <= 2:
    random.seed(0)
for step in range(4):
    reprocheck.log_loss(start / (step + 1) + 0.01 * random.random())
