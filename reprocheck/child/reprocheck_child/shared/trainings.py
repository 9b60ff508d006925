"""Finds which threads and asynchronous tasks of a process train by themselves.

It is used while recording, for the early stop, and when reading a trace.

A training has losses and updates of its own. Threads in which the same optimizer steps are one
training, also where each step runs in another thread. Where no optimizer steps at all, each thread
with several losses is one.

Standard library only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    Member = Union[str, int]
    """A thread by its name, or an optimizer by its index."""

SEVERAL = "several trainings run in threads or tasks of one process"
"""Why a process is not recorded at level `module`."""
MOST = 200
"""Trainings that are told apart: where there are more, the process is taken as one."""


class Trainings:
    """Group the threads and optimizers of one process into trainings.

    Feed it the thread of each loss and of each update.

    losses  number of losses of each thread
    """

    def __init__(self) -> None:
        self.losses: dict[Member, int] = {}
        self._groups: list[set[Member]] = []
        self._seen: set[tuple[str, int]] = set()

    def loss(self, thread: str) -> None:
        """Count a loss in a thread."""
        self.losses[thread] = self.losses.get(thread, 0) + 1

    def update(self, thread: str, optimizer: int) -> None:
        """Count a step of an optimizer in a thread."""
        step = (thread, optimizer)
        if step in self._seen or len(self._groups) > MOST:
            return
        self._seen.add(step)
        joined = [group for group in self._groups if not group.isdisjoint(step)]
        others = [group for group in self._groups if group.isdisjoint(step)]
        own: set[Member] = {thread, optimizer}
        self._groups = [*others, own.union(*joined)]

    @property
    def groups(self) -> list[set[Member]]:
        """Return one set of threads and optimizers for each training."""
        return self._groups or [{thread} for thread in self.losses]

    def several(self) -> list[set[Member]]:
        """Return the threads and optimizers of each training; [] if there is only one training."""
        own = [group for group in self.groups if not group.isdisjoint(self.losses)]
        in_order = self._groups or min(self.losses.values(), default=0) > 1
        if in_order and 1 < len(own) <= MOST:
            return own
        return []
