"""The variation `arrival`: what workers hand over comes a few milliseconds later.

Each time it is another number of milliseconds. The delays come from a stream of our own, so no
generator of the script moves.
"""

from __future__ import annotations

import threading
from functools import partial
from itertools import chain
from time import sleep

from ..recorder import import_hook
from ..recorder.hooking import guarded, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .active_controls import Active

NAME = "arrival"
LONG, SHORT = 0.025, 0.002
"""Seconds of the longest delay: of every third task or so, and of the others. Only what is late by
more than its own work changes the order.
"""
THROUGH = ("multiprocessing", "concurrent", "torch.multiprocessing", "queue")
"""Modules that hand on what the user's modules give them."""


class Delayed:
    """A function that returns a little late.

    It can be pickled: other processes load the recorder, too.
    """

    def __init__(self, function: Any, seconds: float) -> None:
        self.function, self.seconds = function, seconds

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, then wait."""
        result = self.function(*args, **kwargs)
        sleep(self.seconds)
        return result


class _LatePuts:
    """A queue of results whose `put` waits first."""

    def __init__(self, active: Active, queue: Any) -> None:
        self._active, self._queue = active, queue

    def put(self, item: Any) -> None:
        sleep(delay(self._active))
        self._queue.put(item)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


def delay(active: Active) -> float:
    """Return the seconds of the next delay of this process."""
    number = active.number(NAME, "delay %d" % active.point)
    longest = SHORT if number % 3 else LONG
    return number / 2**64 * longest


def install(active: Active) -> None:
    """Delay tasks of executors and pools, and what threads of the user put into a queue."""
    for name, act in (
        ("concurrent.futures._base", _executors),
        ("concurrent.futures.thread", _submits("ThreadPoolExecutor")),
        ("concurrent.futures.process", _submits("ProcessPoolExecutor")),
        ("multiprocessing.pool", _pool),
        ("queue", _queues),
    ):
        import_hook.when_imported(name, guarded("delays of workers")(partial(act, active)))


def _executors(active: Active, module: Any) -> None:
    """Note who asks for results in the order in which they come."""

    def make(real: Callable[..., Any]) -> Callable[..., Any]:
        def asking(*args: Any, **kwargs: Any) -> Any:
            if active.asked_by_user(through=THROUGH):
                active.touched(NAME, "concurrent.futures." + real.__name__)
            return real(*args, **kwargs)

        return asking

    for name in ("as_completed", "wait"):
        replace(module, name, make)


def _submits(kind: str) -> Callable[[Active, Any], None]:
    def act(active: Active, module: Any) -> None:
        waits = chain((LONG,), iter(partial(delay, active), None))  # the first task is overtaken

        def make(real: Callable[..., Any]) -> Callable[..., Any]:
            def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
                if not active.asked_by_user(through=THROUGH):
                    return real(self, fn, *args, **kwargs)
                active.touched(NAME, kind + ".submit")
                return real(self, Delayed(fn, next(waits)), *args, **kwargs)

            return submit

        replace(getattr(module, kind), "submit", make)

    return act


def _pool(active: Active, module: Any) -> None:
    def made(real: Callable[..., None]) -> Callable[..., None]:
        def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
            if active.asked_by_user(through=THROUGH):
                active.touched(NAME, "multiprocessing." + type(self).__name__)
            real(self, *args, **kwargs)

        return initialise

    def working(real: Callable[..., None]) -> Callable[..., None]:
        def worker(inqueue: Any, outqueue: Any, *args: Any, **kwargs: Any) -> None:
            real(inqueue, _LatePuts(active, outqueue), *args, **kwargs)

        return worker

    replace(module.Pool, "__init__", made)
    replace(module, "worker", working)


def _queues(active: Active, module: Any) -> None:
    main = threading.main_thread()

    def make(real: Callable[..., None]) -> Callable[..., None]:
        def put(self: Any, *args: Any, **kwargs: Any) -> None:
            if threading.current_thread() is not main and active.asked_by_user(through=THROUGH):
                active.touched(NAME, "queue.Queue.put")
                sleep(delay(active))
            real(self, *args, **kwargs)

        return put

    replace(module.Queue, "put", make)
