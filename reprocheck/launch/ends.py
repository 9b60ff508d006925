"""When the processes of a run end, as seen from outside: the order of deaths that no trace can tell.

A process that is killed writes nothing, and clocks of its own would have to be believed. A descriptor of the process (Linux, `pidfd`)
becomes readable at its end, so that of two deaths the earlier one is known however close they are.
"""

from __future__ import annotations

import os
import resource
import select
import time
from collections.abc import Iterable


class Ends:
    """Descriptors of processes that go by the name of their trace, `PID-NANOSECONDS.jsonl`, and what was seen of their ends.

    seen   name without its suffix -> seconds after `start` (`time.monotonic`) at which the process was seen to have ended
    """

    def __init__(self, start: float) -> None:
        self.start = start
        self.seen: dict[str, float] = {}
        self._descriptors: dict[str, int] = {}
        self._closed = False
        self._most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2

    def watch(self, names: Iterable[str]) -> None:
        """Watch these processes, too; those that cannot be (gone already, in a namespace of their own) are left out."""
        for name in names:
            stem = name.removesuffix(".jsonl")
            if self._closed or stem in self.seen or stem in self._descriptors or len(self._descriptors) >= self._most:
                continue
            try:
                self._descriptors[stem] = os.pidfd_open(int(stem.partition("-")[0]))
            except (OSError, ValueError, AttributeError):
                continue

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Readable once one of the processes has ended."""
        return tuple(self._descriptors.values())

    def look(self) -> None:
        """Take note of those that have ended."""
        if not self._descriptors:
            return
        poll = select.poll()
        for descriptor in self._descriptors.values():
            poll.register(descriptor, select.POLLIN)
        ended = {descriptor for descriptor, _ in poll.poll(0)}
        if ended:
            now = round(time.monotonic() - self.start, 4)
            for stem in [stem for stem, descriptor in self._descriptors.items() if descriptor in ended]:
                self.seen[stem] = now
                os.close(self._descriptors.pop(stem))

    def close(self) -> None:
        """Watch nothing from now on."""
        self._closed = True
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()
