"""Make the forward and the backward check.

Each compares one loss range of every rank in every run with run 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING

from reprocheck.model import NOT_RECORDED, Checked, CheckKind, Comparison, Run, Tolerance, Trace
from reprocheck.model.statement import Statement
from reprocheck.model.statements.verdict import (
    BeyondDoubles,
    NeitherFinite,
    NothingToCheck,
    OfRanks,
    OtherDtype,
    OtherNumber,
    RankOfOneRun,
    TooFew,
)
from reprocheck.verdict import large_numbers
from reprocheck.verdict.large_numbers import ulp_distance
from reprocheck.verdict.series import column, differs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KINDS: tuple[CheckKind, ...] = ("forward", "backward")


class CannotCompare(Exception):  # noqa: N818
    """A forward or backward check cannot be made; `why` holds the reason."""

    def __init__(self, why: OfRanks) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """The range of losses that a check compares, in a run and in run 1.

    checked          what run 1 says of the check, such as its iteration
    start            index of the first loss in the run
    reference_start  index of the first loss in run 1
    length           number of losses in the range
    """

    checked: Checked
    start: int
    reference_start: int
    length: int


def compare(runs: Sequence[Run], tolerance: Tolerance) -> tuple[Comparison, ...]:
    """Return one row for each later run, each rank and each check, in this order.

    The forward check comes first.
    """
    several = several_ranks(runs)
    rows = []
    for run in runs[1:]:
        own, references = run.by_rank, runs[0].by_rank
        ranks = sorted(references.keys() | own.keys())
        for rank, kind in product(ranks, KINDS):
            row = _row(own, references, kind, run.number, rank, tolerance)
            if several and isinstance(row.why, OfRanks):
                row = replace(row, why=replace(row.why, ranks=(rank,)))
            rows.append(row)
    return tuple(rows)


def pair_up(trace: Trace, reference: Trace, kind: CheckKind, run: int) -> Pair:
    """Return the losses that a check compares, in a run and in run 1. Raises CannotCompare.

    Run 1 decides in which iteration the check is made.
    """
    checked = reference.checked(kind)
    if not checked.count:
        raise CannotCompare(_why_missing(reference, kind, 1))
    if kind == "backward":
        return _backward_pair(trace, reference, run)
    if trace.forward is None:
        raise CannotCompare(_why_missing(trace, kind, run))
    number, expected = trace.forward.count, checked.count
    if number != expected:
        why = OtherNumber(
            iteration=1, run=run, number=number, reference=expected, before_update=True
        )
        raise CannotCompare(why)
    return Pair(checked=checked, start=0, reference_start=checked.start, length=expected)


def _backward_pair(trace: Trace, reference: Trace, run: int) -> Pair:
    checked = reference.checked("backward")
    iteration = checked.iteration
    recorded = len(trace.losses)
    if recorded < iteration:
        stopped = trace.stopped_at is not None
        why = TooFew(run=run, recorded=recorded, iteration=iteration, stopped=stopped)
        raise CannotCompare(why)
    # Losses of the iteration before, recorded after its update, belong to the check, too.
    rest = max(0, reference.losses.until(iteration - 1) - checked.start)
    first = iteration - bool(rest)
    for checked_in in range(first, iteration + 1):
        number, expected = losses_in(trace, checked_in), losses_in(reference, checked_in)
        if number != expected:
            other = OtherNumber(iteration=checked_in, run=run, number=number, reference=expected)
            raise CannotCompare(other)
    return Pair(
        checked=checked,
        start=trace.losses.until(iteration - 1) - rest,
        reference_start=checked.start,
        length=checked.count,
    )


def losses_in(trace: Trace, iteration: int) -> int:
    """Return the number of losses in an iteration (from 1)."""
    start, end = trace.losses.span(iteration)
    return end - start


def several_ranks(runs: Sequence[Run]) -> bool:
    """Return whether the runs have more than one rank."""
    return len({trace.rank for run in runs for trace in run.traces}) > 1


def _row(
    own: Mapping[int, Trace],
    references: Mapping[int, Trace],
    kind: CheckKind,
    run: int,
    rank: int,
    tolerance: Tolerance,
) -> Comparison:
    if rank not in references:
        of_run = RankOfOneRun(rank=rank, recorded=run, lacking=1)
        return _no_row(NOT_RECORDED[kind], run, rank, of_run)
    reference = references[rank]
    checked = reference.checked(kind)
    if rank not in own:
        return _no_row(checked, run, rank, RankOfOneRun(rank=rank, recorded=1, lacking=run))
    try:
        pair = pair_up(own[rank], reference, kind, run)
    except CannotCompare as error:
        return _no_row(checked, run, rank, error.why)
    return _compare(own[rank], reference, pair, run, tolerance)


def _compare(
    trace: Trace, reference: Trace, pair: Pair, run: int, tolerance: Tolerance
) -> Comparison:
    import numpy as np

    own, other = trace.losses, reference.losses
    end, reference_end = pair.start + pair.length, pair.reference_start + pair.length
    a = column(own.values, "float64")[pair.start : end]
    b = column(other.values, "float64")[pair.reference_start : reference_end]
    start, reference_start = pair.start, pair.reference_start
    beyond_doubles = [
        place
        for place in large_numbers.places(own, other, pair.length, start, reference_start)
        if large_numbers.outside(own, start + place, other, reference_start + place, tolerance)
    ]
    different = differs(a, b, tolerance)
    different[beyond_doubles] = True
    neither = ~np.isfinite(a) & ~np.isfinite(b)
    # The loss that the row shows: the first of the iteration, unless another one says more.
    first = other.span(pair.checked.iteration)[0] - pair.reference_start
    place = min(max(0, first), pair.length - 1)
    place = next(iter(beyond_doubles), place)
    place = _furthest(a, b, tolerance, place)
    passed: bool | None = not different.any()
    if passed and neither.any():
        passed, place = None, int(np.argmax(neither))
    return _element(trace, reference, pair, run, place, passed, tolerance)


def _furthest(
    a: NDArray[np.float64], b: NDArray[np.float64], tolerance: Tolerance, otherwise: int
) -> int:
    """Return the index of the loss that a row shows.

    The first that is finite in one run only, else the one that exceeds the tolerance most.

    If all losses are equal, `otherwise`.
    """
    import numpy as np

    in_one_run = np.isfinite(a) != np.isfinite(b)
    if in_one_run.any():
        return int(np.argmax(in_one_run))
    if (a == b).all():
        return otherwise
    with np.errstate(over="ignore", invalid="ignore"):
        excess = np.abs(a - b) - (tolerance.atol + tolerance.rtol * np.abs(b))
    return int(np.argmax(np.nan_to_num(excess, nan=-np.inf)))


def _element(
    trace: Trace,
    reference: Trace,
    pair: Pair,
    run: int,
    place: int,
    passed: bool | None,
    tolerance: Tolerance,
) -> Comparison:
    """Return the row of a check that shows the loss at index `place` of the compared range."""
    index, iteration = pair.reference_start + place, pair.checked.iteration
    first = reference.losses.span(iteration)[0]
    if index < first:
        iteration -= 1
        first = reference.losses.span(iteration)[0]
    own_index = pair.start + place
    a, b = trace.losses.values[own_index], reference.losses.values[index]
    dtype, reference_dtype = trace.losses.dtype(own_index), reference.losses.dtype(index)
    difference, ulp = abs(a - b), ulp_distance(a, b, dtype)
    why: Statement | None = None
    if dtype != reference_dtype:
        ulp, why = None, OtherDtype(run=run, dtype=dtype, reference_dtype=reference_dtype)
    apart = large_numbers.difference(trace.losses, own_index, reference.losses, index)
    # Two losses that no double tells apart, though they are not equal.
    if difference == 0.0 and apart:
        difference = float(apart)
        why = BeyondDoubles(
            run=run,
            shown=large_numbers.shown(trace.losses, own_index),
            other=large_numbers.shown(reference.losses, index),
        )
    if passed is None:
        why = NeitherFinite(iteration=iteration, run=run, value=a, reference=b)
    return Comparison(
        iteration=iteration,
        kind=pair.checked.kind,
        run=run,
        rank=trace.rank,
        loss_index=index - first,
        passed=passed,
        max_difference=_finite_or_none(difference),
        allowed=_finite_or_none(tolerance.atol + tolerance.rtol * abs(b)),
        ulp=ulp,
        reference=b,
        value=a,
        why=why,
    )


def _finite_or_none(value: float) -> float | None:
    if isfinite(value):
        return value
    return None


def _no_row(checked: Checked, run: int, rank: int, why: Statement) -> Comparison:
    return Comparison(
        iteration=checked.iteration,
        kind=checked.kind,
        run=run,
        rank=rank,
        loss_index=None,
        passed=None,
        max_difference=None,
        allowed=None,
        ulp=None,
        why=why,
    )


def _why_missing(trace: Trace, kind: CheckKind, run: int) -> OfRanks:
    """Return why a run has no loss for a check."""
    recorded, unchanged = len(trace.losses), trace.unchanged_updates
    stopped = trace.stopped_at is not None
    missing = partial(
        NothingToCheck, run=run, recorded=recorded, unchanged=unchanged, stopped=stopped
    )
    if not len(trace.losses.values):
        return missing(lacks="any")
    if kind == "forward":
        return missing(lacks="before update")
    if recorded < 2:
        return TooFew(run=run, recorded=recorded, iteration=2, stopped=stopped)
    if unchanged >= recorded:
        return missing(lacks="change")
    if trace.unchanged_passes:
        return missing(lacks="other weights")
    if unchanged:
        return missing(lacks="behind a change")
    return missing(lacks="behind first change")
