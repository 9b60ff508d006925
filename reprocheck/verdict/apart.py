"""Processes of a run of which nothing is known: ranks that never reported, and trainings that were
never seen side by side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from math import inf

from reprocheck.language import form, mark, tr
from reprocheck.model import Process, Run
from reprocheck.model.ranks import named

_APART = mark(
    "in run {run} rank {late} had been started and had not begun to train when reprocheck ended"
    " rank {stopped} at its stop, so they were never seen at the same time; --steps all lets each"
    " come to its own end"
)


def apart(runs: Sequence[Run]) -> str:
    """Return why nothing is known of what the processes do to each other; empty where they were
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
                return tr(_APART, run=run.number, late=late.rank, stopped=stopped.rank)
    return ""


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


def silent(runs: Sequence[Run]) -> str:
    """Return why nothing is known of ranks that never reported; empty where all did."""
    for run in runs:
        if not run.absent:
            continue
        those = form(len(run.absent), "it does", "they do")
        said = tr(
            "{named} of {world} reported no loss and no update",
            named=named(run.absent),
            world=run.world,
        )
        return tr(
            "{said} in run {number}, so nothing is known of what {those}",
            said=said,
            number=run.number,
            those=those,
        )
    return ""
