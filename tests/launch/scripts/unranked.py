"""Trainings in processes that have no ranks: `unranked.py HOW [FAULT]`. Each gets a seed; which is first is a race.

FAULT: `differs`, one of them draws from the system; `shares`, they share their weights; `waits`, the last begins once the first is far.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from ctypes import c_double

import reprocheck

SEEDS = (1, 2, 3, 4)
SHARED = multiprocessing.Value(c_double, 1.0)
FAR = multiprocessing.Event()


def train(seed: int) -> float:
    weight = float(seed)
    noise = 1000 * random.SystemRandom().random() if "differs" in sys.argv and seed == 3 else 0.0
    time.sleep(random.SystemRandom().random() / 20)
    if "waits" in sys.argv and seed == SEEDS[-1]:
        FAR.wait()
    for iteration in range(500 if len(sys.argv) > 2 else 12):
        reprocheck.log_loss(SHARED.value if "shares" in sys.argv else weight)
        weight = weight * 0.9 + noise
        if "shares" in sys.argv:
            SHARED.value = SHARED.value * 0.99 + 0.01 * seed
            time.sleep(0.001)
        if iteration == 200:
            FAR.set()
    return weight


def processes(start_method: str) -> None:
    context = multiprocessing.get_context(start_method)
    started = [context.Process(target=train, args=(seed,)) for seed in SEEDS]
    for process in started:
        process.start()
    for process in started:
        process.join()


def forks() -> None:
    children = []
    for seed in SEEDS:
        child = os.fork()
        if not child:
            train(seed)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def pool() -> None:
    with multiprocessing.get_context("fork").Pool(2) as workers:
        assert len(workers.map(train, SEEDS)) == len(SEEDS)


def executor() -> None:
    with ProcessPoolExecutor(2) as workers:
        assert len(list(workers.map(train, SEEDS))) == len(SEEDS)


def executors(start_method: str) -> None:
    context = multiprocessing.get_context(start_method)
    with ProcessPoolExecutor(2, context) as some, ProcessPoolExecutor(2, context) as others:
        results = [*some.map(train, SEEDS[:2]), *others.map(train, SEEDS[2:])]
    assert len(results) == len(SEEDS)


if __name__ == "__main__":
    how = sys.argv[1]
    several = {f"executors-{method}": lambda method=method: executors(method) for method in ("fork", "spawn")}
    {"forks": forks, "pool": pool, "executor": executor, **several}.get(how, lambda: processes(how))()
