"""Processes of a run of which nothing is known: ranks that never reported, and trainings that were
never seen side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
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
    """Why nothing is known of what the processes do to each other; empty where they were seen
    together.
    """
    for run in runs:
        processes = [trace.process for trace in run.traces if trace.process.origin]
        by_beginning = sorted(processes, key=_began)
        for late, stopped in product(by_beginning, processes):
            if _was_waiting(late, stopped):
                return tr(_APART, run=run.number, late=late.rank, stopped=stopped.rank)
    return ""


def _was_waiting(late: Process, stopped: Process) -> bool:
    """Whether one had been started, and had no loss yet, when the other was ended.

    Times of two machines are never compared.
    """
    # Where one of the times is not known, nothing lies between them.
    left = stopped.left or inf
    same_machine = late.node == stopped.node
    return same_machine and late.started < left < _began(late)


def _began(process: Process) -> float:
    """When it had its first loss; 0 where that is not known."""
    return process.began or 0.0


def silent(runs: Sequence[Run]) -> str:
    """Why nothing is known of ranks that never reported; empty where all did."""
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
