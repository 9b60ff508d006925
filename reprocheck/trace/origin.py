"""Tells where a process comes from: how the process and each of its ancestors were started.

The words do not depend on which process of a run was faster.
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
    """Find processes by machine and process id, which a system gives several times."""

    def __init__(self, processes: Sequence[Recorded]) -> None:
        self._found: dict[tuple[int | None, int, str], list[Recorded]] = defaultdict(list)
        for one in sorted(processes, key=_time):
            for how in {"", one.process.how}:
                self._found[one.node, one.process.pid, how].append(one)

    def latest(
        self, node: int | None, pid: int, *, before: float, how: str = ""
    ) -> Recorded | None:
        """Return the process with this id that began last before the time `before`.

        node    number of the machine on which the process ran; None if all processes ran on one
        before  Unix time in seconds: processes that began later are ignored
        how     how the process began, such as `start` or `fork`; "" for any way
        """
        candidates = self._found.get((node, pid, how), [])
        earlier = bisect_right(candidates, before, key=_time)
        if not earlier:
            return None
        return candidates[earlier - 1]

    def family(self, one: Recorded) -> Iterator[Recorded]:
        """Yield a process and its ancestors, from the process itself upwards.

        The parent of each is the latest process with the parent's process id that began before its
        child.
        """
        member: Recorded | None = one
        # a process id is used again, so that a family could have no end
        for _ in range(MOST_GENERATIONS):
            if member is None:
                return
            yield member
            member = self.latest(member.node, member.process.ppid, before=member.process.time)


_Executor = tuple["int | None", int, str]
"""The machine and the parent of the workers of an executor, and its name."""


class Origins:
    """Tell where each process of one run comes from.

    Two processes that the same parent started in the same way have the same origin.
    """

    def __init__(self, processes: Sequence[Recorded]) -> None:
        self._latest = ById(processes).latest
        first_workers: dict[_Executor, tuple[int, ...]] = {}
        for worker in processes:
            if worker.executor:
                key = (worker.node, worker.process.ppid, worker.executor)
                first_workers[key] = min(first_workers.get(key, worker.identity), worker.identity)
        self._executors: dict[_Executor, int] = {}
        """The number of each executor among those of its parent, by which had a worker first."""
        of_parent: Counter[tuple[int | None, int]] = Counter()
        for node, parent, executor in sorted(first_workers, key=first_workers.__getitem__):
            of_parent[node, parent] += 1
            self._executors[node, parent, executor] = of_parent[node, parent]

    def of(self, recorded: Recorded) -> tuple[str, ...]:
        """Return the origin of a process: one word for each start or fork that led to it."""
        return self._of(recorded, frozenset())

    def _of(self, recorded: Recorded, below: frozenset[str]) -> tuple[str, ...]:
        # where process ids were used again, or a stranger wrote the traces
        if recorded.name in below or len(below) > MOST_GENERATIONS:
            return ()
        process = recorded.process
        interpreter = recorded
        if process.how != "start" and process.root not in (0, process.pid):
            # it was forked from a Python that was started
            started = self._latest(recorded.node, process.root, before=process.time, how="start")
            interpreter = started or recorded
        parent = self._latest(
            recorded.node, interpreter.process.ppid, before=interpreter.process.time
        )
        above = self._of(parent, below | {recorded.name}) if parent is not None else ()
        if recorded.task:
            own_words = [f"task {recorded.task}"]
            number = self._executors.get((recorded.node, process.ppid, recorded.executor), 1)
            if number > 1:
                own_words.append(f"of executor {number}")
        elif recorded.identity:
            # the number that `multiprocessing` gave it
            own_words = [f"process {'.'.join(map(str, recorded.identity))}"]
        else:
            own_words = [f"fork {number}" for number in process.forks]
        return (*above, _arguments(interpreter), *own_words)


def _time(recorded: Recorded) -> float:
    """Return when a process began, in Unix seconds."""
    return recorded.process.time


def _arguments(interpreter: Recorded) -> str:
    arguments = " ".join(interpreter.process.argv)
    if any(mark in arguments for mark in _BY_MULTIPROCESSING):
        return _BY_MULTIPROCESSING_ITSELF
    return arguments
