"""Pools and processes of every kind: the order of results, and what each process draws by default."""

import asyncio
import json
import multiprocessing
import os
import random
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, as_completed, wait

import numpy as np


def slowest_first(number):
    time.sleep(0.03 if number % 3 == 0 else 0)
    return number


def draw(number):
    return [random.random(), np.random.rand(), random.Random().random(), os.urandom(3).hex()]


def to_queue(queue):
    queue.put(draw(0))


def nested(pool):
    return pool.submit(slowest_first, 3).result() + 1


def threads():
    with ThreadPoolExecutor(4) as pool:
        completed = [done.result() for done in as_completed({pool.submit(slowest_first, number) for number in range(9)})]
        waiting, order = {pool.submit(slowest_first, number) for number in range(9)}, []
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            order += [one.result() for one in done]
        called = []
        for number in range(9):
            pool.submit(slowest_first, number).add_done_callback(lambda one: called.append(one.result()))
        answer = pool.submit(nested, pool).result(timeout=10)
    return {"as_completed": completed, "wait": order, "callbacks": called, "nested": answer}


async def sleeper(number):
    await asyncio.sleep(0.03 if number % 3 == 0 else 0)
    return number


async def coroutines():
    return [await done for done in asyncio.as_completed([sleeper(number) for number in range(9)])]


def processes():
    found = {}
    with multiprocessing.get_context("fork").Pool(3) as pool:
        found["imap_unordered"] = list(pool.imap_unordered(slowest_first, range(9)))
        found["in pool"] = pool.map(draw, range(2), 1)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found["process pool"] = [done.result() for done in as_completed([pool.submit(slowest_first, number) for number in range(4)])]
    for how in ("fork", "spawn"):
        context = multiprocessing.get_context(how)
        queue = context.Queue()
        children = [context.Process(target=to_queue, args=(queue,)) for _ in range(2)]
        found[how] = []
        for child in children:
            child.start()
            found[how].append(queue.get())
            child.join()
    return found


def fork():
    """A child that leaves without a word to Python."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, json.dumps([random.random(), random.random()]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return json.loads(os.read(reader, 1000))


if __name__ == "__main__":
    json.dump({**threads(), **processes(), "os.fork": fork(), "asyncio": asyncio.run(coroutines())}, sys.stdout)
