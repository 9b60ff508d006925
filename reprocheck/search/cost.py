"""What a fix costs in time: said only where enough runs were timed with it and without, and they
differ by more than among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from statistics import median

from reprocheck.model import Arm, Check, RunRecord
from reprocheck.search.arms import Book
from reprocheck.search.judged import Judged

LEAST = 3
"""Runs timed on each side below which nothing is said."""


def cost(check: Check, book: Book, under: Judged) -> tuple[float | None, str]:
    """Return how much longer it takes with the fix, or under the controls, than as it is: of a step
    where that was measured, else of a run.
    """
    as_is, with_fix = book.of(()), (book.patched or under).arms
    without = as_is.arms if as_is else ()
    steps = [*check.record.step_times, *_step_times(without)]
    runs = [*_seconds(check.record.runs), *_run_times(without)]
    of_step = times_as_long(steps, _step_times(with_fix))
    if of_step is not None:
        return of_step, "step"
    of_run = times_as_long(runs, _run_times(with_fix))
    if of_run is None:
        return None, ""
    return of_run, "run"


def _step_times(arms: Iterable[Arm]) -> list[float]:
    return list(chain.from_iterable(map(attrgetter("step_times"), arms)))


def _run_times(arms: Iterable[Arm]) -> list[float]:
    return _seconds(chain.from_iterable(map(attrgetter("runs"), arms)))


def times_as_long(before: Sequence[float], after: Sequence[float]) -> float | None:
    """Return the median of one side against the other; None where there are too few, or where the
    two sides overlap.
    """
    if min(len(before), len(after)) < LEAST or min(before) <= 0:
        return None
    overlap = min(after) <= max(before) and min(before) <= max(after)
    if overlap:
        return None
    return median(after) / median(before)


def _seconds(runs: Iterable[RunRecord]) -> list[float]:
    return [run.seconds for run in runs if run.ended in ("completed", "stopped")]
