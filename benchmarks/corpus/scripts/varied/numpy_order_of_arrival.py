"""Planted: samples are used in the order in which the threads finish; the first one starts the others."""

from concurrent.futures import ThreadPoolExecutor
import threading
import time

import reprocheck

def load(number):
    if number == 0:
        begun.set()
    else:
        begun.wait()
        time.sleep(0.008)


begun, order = threading.Event(), []
with ThreadPoolExecutor(4) as pool:
    for number in range(4):
        task = pool.submit(load, number)
        task.add_done_callback(lambda _, number=number: order.append(number))
value = 1.0 + order[0]
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
