"""Names the threads and asynchronous tasks of a process, and counts how far they have trained."""

from __future__ import annotations

import sys
from _thread import get_ident
from itertools import chain
from time import monotonic
from weakref import WeakKeyDictionary, ref

from ..shared.trainings import Trainings
from . import origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 1000
"""Tasks, and items of pools, that are told apart: a program may make one for each step."""
SETTLED = 1.0
"""Seconds after which no further thread is taken to be about to train."""


class Threads:
    """Track the threads beside the main one that had an event, and the trainings in them."""

    def __init__(self) -> None:
        self.trainings = Trainings()
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._owners: dict[str, ref[Any]] = {}
        self._alike: dict[str, int] = {}
        self.train = False
        """Whether weights were updated in another thread than the main one."""
        self._updates: dict[Any, int] = {}  # of each optimizer, since that is so
        self._newest = 0.0  # time of the last update

    def name(self) -> str:
        """Return the name of the calling task or thread.

        The result is "" for the main thread, and for a thread that Python did not start.
        """
        owner = _thread()
        if len(self._owners) < MOST:
            owner = _task() or _item() or owner
        if owner is None or isinstance(owner, str):
            return owner or ""
        name = self._names.get(owner)
        if name is None:
            # the items of an executor have no name
            has_method = hasattr(owner, "get_name")
            called = str(owner.get_name() if has_method else getattr(owner, "name", "task"))
            self._alike[called] = number = self._alike.get(called, 0) + 1
            name = "%s #%d" % (called, number) if number > 1 else called
            self._names[owner] = name
            self._owners[name] = ref(owner)
        return name

    def loss(self, thread: str, *, is_update: bool) -> None:
        """Count a loss of a thread.

        is_update  whether the loss also counts as an update, because there is no optimizer
        """
        self.trainings.loss(thread)
        if is_update:
            self._note_update(thread)

    def update(self, thread: str, optimizer: int) -> int:
        """Count an update; return how many updates this optimizer has made.

        The result is 0 as long as only the main thread trains.
        """
        self._note_update(thread)
        if not self.train:
            return 0
        self._updates[optimizer] = self._updates.get(optimizer, 0) + 1
        self.trainings.update(thread, optimizer)
        return self._updates[optimizer]

    def _note_update(self, thread: str) -> None:
        self.train = self.train or bool(thread)
        self._newest = monotonic()

    def over(self, last: float) -> set[Any]:
        """Return the threads and optimizers whose trainings have made `last` iterations."""
        groups = self.trainings.groups if self.train else []
        return set().union(*(group for group in groups if self._made(group) >= last))

    def all_over(self, last: float) -> bool:
        """Return whether no thread will train before iteration `last` any more.

        All trainings have made that many iterations or have ended, and none has begun for a second.
        """
        if not self.train:
            return True
        if monotonic() - self._newest < SETTLED:
            return False
        behind = (group for group in self.trainings.groups if self._made(group) < last)
        return not any(map(self._lives, chain.from_iterable(behind)))

    def _made(self, training: set[Any]) -> int:
        """Return how many iterations a training has made: the steps of its slowest optimizer.

        Without an optimizer, each loss counts as an iteration.
        """
        counts = self._updates or self.trainings.losses
        return min(counts[member] for member in training & counts.keys())

    def _lives(self, member: str | int) -> bool:
        """Return whether a thread or task may still train."""
        if isinstance(member, int):
            return False
        if member not in self._owners:
            return True
        owner: Any = self._owners[member]()
        if hasattr(owner, "is_alive"):
            return bool(owner.is_alive())
        return owner is not None and not getattr(owner, "future", owner).done()


def _task() -> Any:
    """Return the asynchronous task that this thread runs."""
    loops = sys.modules.get("_asyncio")
    if loops is None or loops._get_running_loop() is None:
        return None
    return sys.modules["asyncio"].current_task()


def _item() -> Any:
    """Return what the calling thread of a pool runs: the item of an executor, or a task's name."""
    worker = origin.worker_frame()
    if worker is None:
        return None
    name = origin.task(worker)
    return "task " + name if name else origin.item(worker)


def _thread() -> Any:
    """Return the calling thread; None for the main one and for one that Python did not start."""
    threading = sys.modules.get("threading")
    if threading is None:
        return None
    # private: `current_thread` would make an object for a thread that Python did not start
    thread = threading._active.get(get_ident())
    if isinstance(thread, (threading._MainThread, threading._DummyThread)):
        return None
    return thread
