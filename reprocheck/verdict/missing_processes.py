"""Processes of which too little is known: ranks that never reported, and trainings of one run that
were never seen side by side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from math import inf

from reprocheck.model import Process, Run
from reprocheck.model.statements.verdict import NeverTogether, SilentRanks


def apart(runs: Sequence[Run]) -> NeverTogether | None:
    """Return that one process was stopped before another had its first loss.

    Then it is not known how the two affect each other. None if all were seen side by side.
    """
    for run in runs:
        processes = [trace.process for trace in run.traces if trace.process.origin]
        ends: dict[int | None, list[float]] = defaultdict(list)
        for process in sorted(processes, key=_left):
            ends[process.node].append(_left(process))
        for late in sorted(processes, key=_began):
            of_machine = ends[late.node]
            started = bisect_right(of_machine, late.started)
            if started < bisect_left(of_machine, _began(late)):
                stopped = next(one for one in processes if _was_waiting(late, one))
                return NeverTogether(run=run.number, late=late.rank, stopped=stopped.rank)
    return None


def _was_waiting(late: Process, stopped: Process) -> bool:
    """Return whether `late` was started, but had no loss yet, when `stopped` was ended.

    False for processes on two machines, because their clocks are not compared.
    """
    same_machine = late.node == stopped.node
    return same_machine and late.started < _left(stopped) < _began(late)


def _left(process: Process) -> float:
    """Return when a process was ended at its stop; infinity if that is not known."""
    return process.left or inf


def _began(process: Process) -> float:
    """Return when a process had its first loss; 0 if that is not known."""
    return process.began or 0.0


def silent(runs: Sequence[Run]) -> SilentRanks | None:
    """Return the ranks that never reported, of the first run that has such ranks."""
    for run in runs:
        if run.absent:
            return SilentRanks(run=run.number, world=run.world, ranks=run.absent)
    return None
