"""Where a process comes from, in words that do not depend on which process of a run was faster.

That is: how it and each of its ancestors were started.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from reprocheck.trace.process import Recorded

_BY_MULTIPROCESSING = ("--multiprocessing-fork", "from multiprocessing.")
"""Stands among the arguments of a Python that `multiprocessing` starts, beside numbers of
descriptors.
"""
_BY_MULTIPROCESSING_ITSELF = "multiprocessing"

MOST_GENERATIONS = 50
"""Starts on the way to a process: a training has a few."""


class ById:
    """Processes by machine and process id, which several had one after the other."""

    def __init__(self, processes: Sequence[Recorded]) -> None:
        self._found: dict[tuple[int | None, int, str], list[Recorded]] = defaultdict(list)
        for one in sorted(processes, key=_time):
            for how in {"", one.process.how}:
                self._found[one.node, one.process.pid, how].append(one)

    def latest(
        self, node: int | None, pid: int, *, before: float, how: str = ""
    ) -> Recorded | None:
        """Return what recorded last under a process id, of those that began before."""
        found = self._found.get((node, pid, how), [])
        earlier = bisect_right(found, before, key=_time)
        if not earlier:
            return None
        return found[earlier - 1]

    def family(self, one: Recorded) -> Iterator[Recorded]:
        """Return a process and those that it descends from, itself first: the latest of each
        process id that began before the one below.
        """
        member: Recorded | None = one
        # a process id is used again, so that a family could have no end
        for _ in range(MOST_GENERATIONS):
            if member is None:
                return
            yield member
            member = self.latest(member.node, member.process.ppid, before=member.process.time)


class Origins:
    """The origins of the processes of one run.

    Two that were started alike, by the same process, have the same.
    """

    def __init__(self, processes: Sequence[Recorded]) -> None:
        self._latest = ById(processes).latest
        self._executors = _numbered(processes)

    def of(self, recorded: Recorded) -> tuple[str, ...]:
        """Return one word for each start or fork on the way to a process."""
        return self._of(recorded, frozenset())

    def _of(self, recorded: Recorded, below: frozenset[str]) -> tuple[str, ...]:
        # where process ids were used again, or a stranger wrote the traces
        if recorded.name in below or len(below) > MOST_GENERATIONS:
            return ()
        interpreter = self._interpreter(recorded)
        parent = self._latest(
            recorded.node, interpreter.process.ppid, before=interpreter.process.time
        )
        above = self._of(parent, below | {recorded.name}) if parent is not None else ()
        return (*above, _arguments(interpreter), *self._own_words(recorded))

    def _interpreter(self, recorded: Recorded) -> Recorded:
        """Return the process that was started as a Python, and that this one was forked from."""
        said = recorded.process
        if said.how == "start" or said.root in (0, said.pid):
            return recorded
        return self._latest(recorded.node, said.root, before=said.time, how="start") or recorded

    def _own_words(self, recorded: Recorded) -> tuple[str, ...]:
        """Behind the interpreter: the task, else the number that `multiprocessing` gave it, else
        the forks that led to it.
        """
        if recorded.task:
            number = self._executors.get(
                (recorded.node, recorded.process.ppid, recorded.executor), 1
            )
            return (f"task {recorded.task}", *([f"of executor {number}"] if number > 1 else []))
        if recorded.identity:
            return (f"process {'.'.join(map(str, recorded.identity))}",)
        return tuple(f"fork {number}" for number in recorded.process.forks)


def _time(recorded: Recorded) -> float:
    """Return when a process began."""
    return recorded.process.time


def _arguments(interpreter: Recorded) -> str:
    arguments = " ".join(interpreter.process.argv)
    if any(mark in arguments for mark in _BY_MULTIPROCESSING):
        return _BY_MULTIPROCESSING_ITSELF
    return arguments


def _numbered(processes: Sequence[Recorded]) -> dict[tuple[int | None, int, str], int]:
    """Machine, parent and executor of workers -> the number of that executor among those of its
    parent, by which had a worker first.
    """
    first: dict[tuple[int | None, int, str], tuple[int, ...]] = {}
    for one in processes:
        if one.executor:
            key = (one.node, one.process.ppid, one.executor)
            first[key] = min(first.get(key, one.identity), one.identity)
    found: dict[tuple[int | None, int, str], int] = {}
    of_parent: Counter[tuple[int | None, int]] = Counter()
    for node, parent, executor in sorted(first, key=lambda key: first[key]):
        of_parent[node, parent] += 1
        found[node, parent, executor] = of_parent[node, parent]
    return found
