"""Planted: threads put samples into a queue, nearly always in the order of their start."""

import queue
import threading
import time

import reprocheck

def load(number):
    time.sleep(0.006 * number)
    samples.put(number)


samples = queue.Queue()
threads = [threading.Thread(target=load, args=(number,)) for number in range(6)]
for thread in threads:
    thread.start()
value = 1.0 + sum(0.5**n * samples.get() for n in range(6))
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
