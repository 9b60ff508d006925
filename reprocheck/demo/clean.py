"""Fits a line to noisy points by gradient descent, in plain Python.

Every random draw is seeded: two runs agree in every bit.
"""

import random
import time

import reprocheck

rng = random.Random(0)
points = [(x / 10, 3 * x / 10 + 1 + rng.gauss(0, 0.1)) for x in range(40)]

slope, offset = rng.random(), 0.0
for step in range(10):
    batch = rng.sample(points, 8)
    errors = [(slope * x + offset - y, x) for x, y in batch]
    loss = sum(error**2 for error, _ in errors) / len(batch)
    reprocheck.log_loss(loss)
    slope -= 0.02 * sum(2 * error * x for error, x in errors) / len(batch)
    offset -= 0.02 * sum(2 * error for error, _ in errors) / len(batch)
    print(f"step {step}: loss {loss:.4f}")
    time.sleep(0.02)
