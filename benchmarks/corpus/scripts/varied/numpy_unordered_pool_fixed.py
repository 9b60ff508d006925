"""The fix of numpy_unordered_pool.py: the results come in their order."""

from multiprocessing import Pool
import time

import reprocheck

def load(number):
    time.sleep(0.006 * number)
    return number


with Pool(3) as pool:
    value = 1.0 + sum(0.5**n * number for n, number in enumerate(pool.imap(load, range(6))))
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
