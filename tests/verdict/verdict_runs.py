"""Runs written as lists of losses, for the tests of the verdict."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import accumulate

from reprocheck.model import (
    Checked,
    CheckKind,
    Ended,
    LossSeries,
    Process,
    Run,
    RunRecord,
    Tolerance,
    Trace,
    Verdict,
    VerdictName,
)
from reprocheck.verdict import judge

NAN, INF = math.nan, math.inf
PROCESS = Process(pid=1, ppid=0, argv=("train.py",), python="3.11", name="MainProcess")
Losses = Sequence[Sequence[float]]


def series(iterations: Losses, dtype: str = "float32") -> LossSeries:
    values = array("d", (value for losses in iterations for value in losses))
    ends = array("q", accumulate(len(losses) for losses in iterations))
    return LossSeries(
        values=values, dtype_of=array("B", bytes(len(values))), dtypes=(dtype,), ends=ends
    )


def trace(
    iterations: Losses,
    *,
    rank: int = 0,
    first: int | None = None,
    moved_in: int | None = 1,
    moved_at: int | None = None,
    dtype: str = "float32",
    **keys: object,
) -> Trace:
    """`first` losses lie before the first update; the weights really changed in iteration
    `moved_in`, after `moved_at` losses.
    """
    losses = series(iterations, dtype)
    ends = losses.ends
    forward = (
        Checked(kind="forward", iteration=1, start=0, end=first if first is not None else ends[0])
        if len(ends) and ends[0]
        else None
    )
    backward = None
    if moved_in is not None and moved_in < len(ends):
        start = (
            moved_at
            if moved_at is not None
            else (first if first is not None and moved_in == 1 else ends[moved_in - 1])
        )
        backward = Checked(kind="backward", iteration=moved_in + 1, start=start, end=ends[moved_in])
    given: dict[str, object] = {"unchanged_updates": (moved_in or len(ends) + 1) - 1, **keys}
    return Trace(
        rank=rank, process=PROCESS, losses=losses, forward=forward, backward=backward, **given
    )  # type: ignore[arg-type]


def run(
    number: int,
    *traces: Trace,
    ended: Ended = "completed",
    status: int | None = 0,
    stderr: str = "",
    **keys: object,
) -> Run:
    record = RunRecord(
        number=number,
        ended=ended,
        exit_status=status,
        started="",
        seconds=15.0,
        trace="",
        stdout="",
        stderr="",
    )
    given: dict[str, object] = {"frameworks": {"torch": "2"}, "processes": (PROCESS,), **keys}
    return Run(record=record, traces=traces, stderr_tail=stderr, **given)  # type: ignore[arg-type]


def pair(reference: Losses, losses: Losses, **keys: object) -> tuple[Run, Run]:
    return run(1, trace(reference, **keys)), run(2, trace(losses, **keys))  # type: ignore[arg-type]


Outcome = tuple[VerdictName, CheckKind | None, int]
"""The verdict, the check that fails, and the exit code."""


def outcome(verdict: Verdict) -> Outcome:
    assert verdict.because is not None
    return verdict.verdict, verdict.failed_check, verdict.exit_code


def judged(runs: Sequence[Run], **keys: object) -> Outcome:
    return outcome(judge(runs, Tolerance(), **keys))  # type: ignore[arg-type]


FORWARD: Outcome = ("not_reproducible", "forward", 1)
BACKWARD: Outcome = ("not_reproducible", "backward", 1)
REPRODUCIBLE: Outcome = ("reproducible", None, 0)
INCONCLUSIVE: Outcome = ("inconclusive", None, 3)
FAILED: Outcome = ("script_failed", None, 4)
TIMED_OUT: Outcome = ("timed_out", None, 5)


GOOD: Losses = [[1.0], [0.5], [0.25]]
