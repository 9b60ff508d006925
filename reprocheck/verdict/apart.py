"""Processes of a run of which nothing is known: ranks that never reported, and trainings that were
never seen side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.model import Process, Run
from reprocheck.model.ranks import named


def apart(runs: Sequence[Run]) -> str:
    """Why nothing is known of what the processes do to each other; empty where they were seen
    together.
    """
    for run in runs:
        processes = [trace.process for trace in run.traces if trace.process.origin]
        for late in sorted(processes, key=lambda process: process.began or 0.0):
            for stopped in processes:
                if _was_waiting(late, stopped):
                    return (
                        f"in run {run.number} rank {late.rank} had been started and had not begun"
                        f" to train when reprocheck ended rank {stopped.rank} at its stop, so they"
                        " were never seen at the same time; --steps all lets each come to its"
                        " own end"
                    )
    return ""


def _was_waiting(late: Process, stopped: Process) -> bool:
    """Whether one had been started, and had no loss yet, when the other was ended.

    Times of two machines are never compared.
    """
    if late is stopped or late.node != stopped.node or late.began is None or stopped.left is None:
        return False
    return late.started < stopped.left < late.began


def silent(runs: Sequence[Run]) -> str:
    """Why nothing is known of ranks that never reported; empty where all did."""
    for run in runs:
        if run.absent:
            those = "it does" if len(run.absent) == 1 else "they do"
            said = (
                f"{named(run.absent)} of {run.world} reported no loss and no update in run"
                f" {run.number}"
            )
            return f"{said}, so nothing is known of what {those}"
    return ""
