"""The threads and asynchronous tasks of a process: their names, and how far they have trained."""

from __future__ import annotations

import sys
from _thread import get_ident
from time import monotonic
from weakref import WeakKeyDictionary, ref

from . import origin
from .shared.trainings import Trainings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SETTLED = 0.5
"""Seconds after which no further thread is taken to be about to train."""


class Threads:
    """Those other than the main thread that had an event."""

    def __init__(self) -> None:
        self.trainings = Trainings()
        self.train = False
        """Whether an optimizer has stepped in one of them."""
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._owners: dict[str, ref[Any]] = {}
        self._updates: dict[Any, int] = {}  # of each optimizer
        self._all_there = 0.0  # since when all trainings are at the stop

    def name(self) -> str:
        """The task or the thread that calls; "" for the main thread, and for one that Python did
        not start.
        """
        owner = _task() or _item() or _thread()
        if owner is None or isinstance(owner, str):
            return owner or ""
        name = self._names.get(owner)
        if name is None:
            name = self._names[owner] = self._free(_called(owner))
            self._owners[name] = ref(owner)
        return name

    def update(self, thread: str, optimizer: int) -> bool:
        """Note an update; False while all are made in the main thread."""
        self.train = self.train or bool(thread)
        if self.train:
            self._updates[optimizer] = self._updates.get(optimizer, 0) + 1
            self.trainings.update(thread, optimizer)
        return self.train

    def all_there(self, last: float) -> bool:
        """Whether all trainings that go on are behind iteration `last`, for so long that no other
        is about to begin.
        """
        now = monotonic()
        behind = any(self._is_behind(group, last) for group in self.trainings.groups)
        if behind or not self._all_there:
            self._all_there = now
        return now - self._all_there >= SETTLED

    def over(self, last: float) -> set[str | int]:
        """The threads and optimizers of the trainings that are behind iteration `last`."""
        over = (group for group in self.trainings.groups if self._made(group) >= last)
        return set().union(*over)

    def made(self, optimizer: int) -> int:
        """How many updates an optimizer has made."""
        return self._updates[optimizer]

    def _made(self, members: set[Any]) -> int:
        """The iterations of a training: each of its optimizers has made them."""
        return min(self._updates[member] for member in members if isinstance(member, int))

    def _is_behind(self, members: set[Any], last: float) -> bool:
        if self._made(members) >= last:
            return False
        return any(self._lives(member) for member in members if isinstance(member, str))

    def _lives(self, name: str) -> bool:
        """Whether a thread or a task may still train."""
        if name not in self._owners:
            return True
        owner = self._owners[name]()
        if owner is None:
            return False
        if hasattr(owner, "is_alive"):
            return bool(owner.is_alive())
        return not getattr(owner, "future", owner).done()

    def _free(self, name: str) -> str:
        """The name, with a number where others have it."""
        alike = sum(known.partition(" #")[0] == name for known in self._owners)
        return "%s #%d" % (name, alike + 1) if alike else name


def _task() -> Any:
    """The asynchronous task that this thread is at."""
    loops = sys.modules.get("_asyncio")
    if loops is None or loops._get_running_loop() is None:
        return None
    return sys.modules["asyncio"].current_task()


def _item() -> Any:
    """What a thread of a pool works at: the item of an executor, or the name of a task."""
    worker = origin.worker_frame()
    if worker is None:
        return None
    name = origin.task(worker)
    return "task " + name if name else origin.item(worker)


def _thread() -> Any:
    """The thread, unless it is the main one or was not started by Python."""
    threading = sys.modules.get("threading")
    if threading is None:
        return None
    thread = threading._active.get(get_ident())
    if isinstance(thread, (threading._MainThread, threading._DummyThread)):
        return None
    return thread


def _called(owner: Any) -> str:
    """The name of a task or of a thread; the items of an executor have none."""
    if hasattr(owner, "get_name"):
        return str(owner.get_name())
    return str(getattr(owner, "name", "task"))
