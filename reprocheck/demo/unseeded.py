"""Make the usual mistake: `random` is seeded, and another generator draws the batches.

The training is otherwise that of `clean.py`.
"""

import random
import time

import reprocheck

random.seed(0)
points = [(x / 10, 3 * x / 10 + 1 + random.gauss(0, 0.1)) for x in range(40)]
shuffler = random.Random()  # no seed: `random.seed` does not reach it

slope, offset = random.random(), 0.0
for step in range(10):
    loss = slope_gradient = offset_gradient = 0.0
    for x, y in shuffler.sample(points, 8):
        error = slope * x + offset - y
        loss += error**2 / 8
        slope_gradient += 2 * error * x / 8
        offset_gradient += 2 * error / 8
    reprocheck.log_loss(loss)
    slope -= 0.02 * slope_gradient
    offset -= 0.02 * offset_gradient
    print(f"step {step}: loss {loss:.4f}")
    time.sleep(0.02)
