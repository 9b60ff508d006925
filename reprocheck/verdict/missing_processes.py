"""Processes of a run of which nothing is known: ranks that never reported, and trainings that were
never seen side by side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from math import inf

from reprocheck.model import Process, Run
from reprocheck.model.statements.verdict import NeverTogether, SilentRanks


def apart(runs: Sequence[Run]) -> NeverTogether | None:
    """Return why nothing is known of what the processes do to each other; None where they were
    seen together.
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
    """Return whether one had been started, and had no loss yet, when the other was ended.

    Times of two machines are never compared.
    """
    same_machine = late.node == stopped.node
    return same_machine and late.started < _left(stopped) < _began(late)


def _left(process: Process) -> float:
    """Return when a process was ended at its stop; where that is not known, nothing comes after
    it.
    """
    return process.left or inf


def _began(process: Process) -> float:
    """Return when a process had its first loss; 0 where that is not known."""
    return process.began or 0.0


def silent(runs: Sequence[Run]) -> SilentRanks | None:
    """Return the ranks of the first run that has some which never reported."""
    for run in runs:
        if run.absent:
            return SilentRanks(run=run.number, world=run.world, ranks=run.absent)
    return None
