"""Which threads and asynchronous tasks of a process train by themselves: used while recording, for
the early stop, and when reading a trace.

A training has losses and updates of its own. Threads in which the same optimizer steps are one
training, also where each step runs in another thread.

Standard library only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    Member = Union[str, int]
    """A thread by its name, or an optimizer by its index."""

MOST = 200
"""Trainings that are told apart: where there are more, the process is taken as one."""


class Trainings:
    """The trainings of one process. Feed it the thread of each loss and of each update.

    groups  threads and optimizers that belong together
    """

    def __init__(self) -> None:
        self.groups: list[set[Member]] = []
        self._with_loss: set[Member] = set()
        self._seen: set[tuple[str, int]] = set()

    def loss(self, thread: str) -> None:
        """A loss was seen in a thread."""
        self._with_loss.add(thread)

    def update(self, thread: str, optimizer: int) -> None:
        """An optimizer has stepped in a thread."""
        step = (thread, optimizer)
        if step in self._seen or len(self.groups) > MOST:
            return
        self._seen.add(step)
        joined = [group for group in self.groups if not group.isdisjoint(step)]
        others = [group for group in self.groups if group.isdisjoint(step)]
        own: set[Member] = {thread, optimizer}
        self.groups = [*others, own.union(*joined)]

    def several(self) -> list[set[Member]]:
        """The threads and optimizers of each training; nothing where there is only one."""
        own = [group for group in self.groups if not group.isdisjoint(self._with_loss)]
        if 1 < len(own) <= MOST:
            return own
        return []
