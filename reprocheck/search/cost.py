"""What a fix costs in time: said only where enough runs were timed with it and without, and they
differ by more than among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import median

from reprocheck.model import Arm, Check, RunRecord
from reprocheck.search.arms import Book, Judged

LEAST = 3
"""Runs timed on each side below which nothing is said."""


def cost(check: Check, book: Book, under: Judged) -> tuple[float | None, str]:
    """How much longer it takes with the fix, or under the controls, than as it is: of a step where
    that was measured, else of a run.
    """
    patched = book.of((), patched=True)
    fixed = under if patched is None or patched.untried else patched
    without = _arms(book, book.of(()))
    with_fix = _arms(book, fixed)
    steps = [*check.record.step_times, *_step_times(without)]
    of_step = times_as_long(steps, _step_times(with_fix))
    if of_step is not None:
        return of_step, "step"
    before = [*_seconds(check.record.runs), *_run_times(without)]
    of_run = times_as_long(before, _run_times(with_fix))
    return (None, "") if of_run is None else (of_run, "run")


def _arms(book: Book, judged: Judged | None) -> list[Arm]:
    """The recorded arms that a judgement is of."""
    names = () if judged is None else judged.arms
    return [arm for arm in book.record.arms if arm.name in names]


def _step_times(arms: Iterable[Arm]) -> list[float]:
    return list(chain.from_iterable(arm.step_times for arm in arms))


def _run_times(arms: Iterable[Arm]) -> list[float]:
    return list(chain.from_iterable(_seconds(arm.runs) for arm in arms))


def times_as_long(before: Sequence[float], after: Sequence[float]) -> float | None:
    """The median of one side against the other; None where there are too few, or where the two
    sides overlap.
    """
    if min(len(before), len(after)) < LEAST or min(before) <= 0:
        return None
    overlap = min(after) <= max(before) and min(before) <= max(after)
    return None if overlap else median(after) / median(before)


def _seconds(runs: Iterable[RunRecord]) -> list[float]:
    return [run.seconds for run in runs if run.ended in ("completed", "stopped")]
