"""When the processes of a run end, as seen from outside: the order of deaths that no trace can
tell.

A process that is killed writes nothing, and clocks of its own would have to be believed. A
descriptor of the process (Linux, `pidfd`) becomes readable at its end. The kernel hands them out in
the order in which they became so (`epoll`), and thus the earlier one of two deaths is known however
close they are, and however late somebody looks.
"""

from __future__ import annotations

import os
import resource
import select
import time
from collections.abc import Iterable


class Ends:
    """Descriptors of processes by the name of their trace, `PID-NANOSECONDS.jsonl`, and the
    observed ends of the processes.

    seen   name without its suffix -> seconds after `start` (`time.monotonic`) at which the process
           was seen to have ended; of several seen at once, each is a tenth of a millisecond after
           the one that ended before it
    """

    _STEP = 1e-4

    def __init__(self, start: float) -> None:
        self.start = start
        self.seen: dict[str, float] = {}
        self._descriptors: dict[int, str] = {}
        self._epoll = select.epoll()
        self._most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2

    def watch(self, names: Iterable[str]) -> None:
        """Watch further processes; skip those that cannot be watched (gone already, in a namespace
        of their own).
        """
        for name in names:
            stem = name.removesuffix(".jsonl")
            if (
                self._epoll.closed
                or stem in self.seen
                or stem in self._descriptors.values()
                or len(self._descriptors) >= self._most
            ):
                continue
            try:
                descriptor = os.pidfd_open(int(stem.partition("-")[0]))
            except (OSError, ValueError, AttributeError):
                continue
            self._descriptors[descriptor] = stem
            self._epoll.register(descriptor, select.EPOLLIN)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors, each of which becomes readable once its process has ended."""
        if self._epoll.closed:
            return ()
        return (self._epoll.fileno(),)

    def look(self) -> None:
        """Note the processes that have ended."""
        if self._epoll.closed or not self._descriptors:
            return
        ended = self._epoll.poll(0, len(self._descriptors))
        now = time.monotonic() - self.start
        for place, (descriptor, _) in enumerate(ended):
            stem = self._descriptors.pop(descriptor)
            self.seen[stem] = round(now + place * self._STEP, 4)
            self._epoll.unregister(descriptor)
            os.close(descriptor)

    def close(self) -> None:
        """Stop watching."""
        self._epoll.close()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
