"""What a fix costs in time: said only where enough runs were timed with it and without, and they
differ by more than among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from reprocheck.model import Check, RunRecord
from reprocheck.search.arms import Book, Judged

LEAST = 3
"""Runs timed on each side below which nothing is said."""


def cost(check: Check, book: Book, under: Judged) -> tuple[float | None, str]:
    """How much longer it takes with the fix, or under the controls, than as it is: of a step where
    that was measured, else of a run.
    """
    patched = book.of((), patched=True)
    fixed = under if patched is None or patched.untried else patched
    as_is = book.of(())
    with_fix = [arm for arm in book.record.arms if arm.name in fixed.arms]
    again = [arm for arm in book.record.arms if as_is is not None and arm.name in as_is.arms]
    steps = [*check.record.step_times, *(seconds for arm in again for seconds in arm.step_times)]
    fixed_steps = [seconds for arm in with_fix for seconds in arm.step_times]
    if (ratio := times_as_long(steps, fixed_steps)) is not None:
        return ratio, "step"
    before = _seconds((*check.record.runs, *(run for arm in again for run in arm.runs)))
    after = _seconds(run for arm in with_fix for run in arm.runs)
    ratio = times_as_long(before, after)
    return ratio, "run" if ratio is not None else ""


def times_as_long(before: Sequence[float], after: Sequence[float]) -> float | None:
    """The median of one side against the other; None where there are too few, or where the two
    sides overlap.
    """
    if min(len(before), len(after)) < LEAST or min(before) <= 0:
        return None
    apart = max(before) < min(after) or max(after) < min(before)
    return median(after) / median(before) if apart else None


def _seconds(runs: Iterable[RunRecord]) -> list[float]:
    return [run.seconds for run in runs if run.ended in ("completed", "stopped")]
