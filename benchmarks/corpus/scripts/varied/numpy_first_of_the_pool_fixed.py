"""The fix of numpy_first_of_the_pool.py: the first task is waited for."""

from concurrent.futures import ThreadPoolExecutor
import time

import reprocheck

def load(number):
    time.sleep(0.005 * number)
    return float(number)


with ThreadPoolExecutor(4) as pool:
    tasks = [pool.submit(load, number) for number in range(1, 5)]
    value = tasks[0].result()
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
