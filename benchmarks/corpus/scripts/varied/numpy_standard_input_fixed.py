"""The fix of numpy_standard_input.py: standard input is not looked at."""

import reprocheck

value = 1.0
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
