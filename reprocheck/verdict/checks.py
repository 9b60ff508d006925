"""The forward and the backward check: every run against run 1, every rank, every loss in the
list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reprocheck.model import Checked, CheckKind, Comparison, Run, Tolerance, Trace
from reprocheck.verdict import exact, words
from reprocheck.verdict.series import column, differs
from reprocheck.verdict.ulp import ulp_distance

CALL_LOG_LOSS = "call reprocheck.log_loss(loss) in every iteration"
KINDS: tuple[CheckKind, ...] = ("forward", "backward")


class CannotCompare(Exception):  # noqa: N818
    """Why a check cannot be made: a sentence with the remedy, in which `words.RANKS` stands for the
    rank.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """The losses that a check takes: [start, end) in a run and [reference_start, reference_end) in
    run 1.
    """

    checked: Checked
    start: int
    reference_start: int
    length: int


def compare(runs: Sequence[Run], tolerance: Tolerance) -> tuple[Comparison, ...]:
    """One row for each later run, rank and check, in this order: run, rank, forward before
    backward.
    """
    return tuple(_rows(runs, tolerance)) if runs else ()


def traces(run: Run) -> dict[int, Trace]:
    """The traces of a run by rank."""
    return {trace.rank: trace for trace in run.traces}


def pair_up(trace: Trace, reference: Trace, kind: CheckKind, run: int) -> Pair:
    """Find the losses of a check in both runs.

    The iteration of run 1 rules. Raises CannotCompare.
    """
    checked = reference.forward if kind == "forward" else reference.backward
    if checked is None or checked.start >= checked.end:
        raise CannotCompare(_why_missing(reference, kind, 1))
    if kind == "forward":
        if trace.forward is None:
            raise CannotCompare(_why_missing(trace, kind, run))
        length = checked.end - checked.start
        if trace.forward.end - trace.forward.start != length:
            raise CannotCompare(
                _other_number(
                    1,
                    run,
                    trace.forward.end - trace.forward.start,
                    length,
                    " before the first update",
                )
            )
        return Pair(checked=checked, start=0, reference_start=checked.start, length=length)
    iteration = checked.iteration
    if len(trace.losses) < iteration:
        raise CannotCompare(_too_few(trace, run, iteration))
    rest = max(0, reference.losses.ends[iteration - 2] - checked.start)
    for checked_iteration in ([iteration - 1] if rest else []) + [iteration]:
        count, expected = (
            end - start
            for start, end in (side.losses.span(checked_iteration) for side in (trace, reference))
        )
        if count != expected:
            raise CannotCompare(_other_number(checked_iteration, run, count, expected))
    return Pair(
        checked=checked,
        start=trace.losses.ends[iteration - 2] - rest,
        reference_start=checked.start,
        length=checked.end - checked.start,
    )


def _rows(runs: Sequence[Run], tolerance: Tolerance) -> Iterator[Comparison]:
    references = traces(runs[0])
    several = words.several_ranks(runs)
    for run in runs[1:]:
        own = traces(run)
        for rank in sorted(references.keys() | own.keys()):
            for kind in KINDS:
                row = _row(own.get(rank), references.get(rank), kind, run.number, rank, tolerance)
                yield replace(
                    row, detail=words.of_ranks(row.detail, f"rank {rank}", several=several)
                )


def _row(
    trace: Trace | None,
    reference: Trace | None,
    kind: CheckKind,
    run: int,
    rank: int,
    tolerance: Tolerance,
) -> Comparison:
    checked = None
    if reference is not None:
        checked = reference.forward if kind == "forward" else reference.backward
    usual = 1 if kind == "forward" else 2
    iteration = checked.iteration if checked is not None else usual
    try:
        if trace is None or reference is None:
            raise CannotCompare(
                f"rank {rank} was recorded in run {run if reference is None else 1} and not in run"
                f" {1 if reference is None else run}"
            )
        pair = pair_up(trace, reference, kind, run)
    except CannotCompare as why:
        return _no_row(kind, run, rank, iteration, str(why))
    return _compare(trace, reference, pair, run, tolerance)


def _compare(
    trace: Trace, reference: Trace, pair: Pair, run: int, tolerance: Tolerance
) -> Comparison:
    import numpy as np

    a = column(trace.losses.values, "float64")[pair.start : pair.start + pair.length]
    b = column(reference.losses.values, "float64")[
        pair.reference_start : pair.reference_start + pair.length
    ]
    different = differs(a, b, tolerance)
    beyond_doubles = [
        place
        for place in exact.places(
            trace.losses, reference.losses, pair.length, pair.start, pair.reference_start
        )
        if exact.outside(
            trace.losses,
            pair.start + place,
            reference.losses,
            pair.reference_start + place,
            tolerance,
        )
    ]
    different[beyond_doubles] = True
    finite_a, finite_b = np.isfinite(a), np.isfinite(b)
    neither = ~finite_a & ~finite_b
    beside = None if neither.any() else True
    passed = False if different.any() else beside
    with np.errstate(over="ignore", invalid="ignore"):
        excess = np.nan_to_num(
            np.abs(a - b) - (tolerance.atol + tolerance.rtol * np.abs(b)), nan=-np.inf
        )
    if passed is None:
        place = int(np.argmax(neither))
    elif (finite_a != finite_b).any():
        place = int(np.argmax(finite_a != finite_b))
    elif (a == b).all() and beyond_doubles:
        place = beyond_doubles[0]
    elif (a == b).all():
        place = min(
            max(0, reference.losses.span(pair.checked.iteration)[0] - pair.reference_start),
            pair.length - 1,
        )
    else:
        place = int(np.argmax(excess))
    return _element(trace, reference, pair, run, place, passed, tolerance)


def _element(
    trace: Trace,
    reference: Trace,
    pair: Pair,
    run: int,
    place: int,
    passed: bool | None,
    tolerance: Tolerance,
) -> Comparison:
    """The row that shows the loss at `place` of the range."""
    import math

    index, iteration = pair.reference_start + place, pair.checked.iteration
    first = reference.losses.span(iteration)[0]
    if index < first:
        iteration -= 1
        first = reference.losses.span(iteration)[0]
    a, b = trace.losses.values[pair.start + place], reference.losses.values[index]
    dtype, reference_dtype = trace.losses.dtype(pair.start + place), reference.losses.dtype(index)
    difference = abs(a - b) if math.isfinite(a) and math.isfinite(b) else None
    detail = "" if dtype == reference_dtype else f"{dtype} in run {run}, {reference_dtype} in run 1"
    apart = (
        exact.difference(trace.losses, pair.start + place, reference.losses, index)
        if difference == 0.0
        else None
    )
    if apart:
        difference = float(apart)
        own, other = (
            exact.shown(trace.losses, pair.start + place),
            exact.shown(reference.losses, index),
        )
        detail = f"run {run} has loss {own} where run 1 has {other}"
    if passed is None:
        kinds = _finiteness(b), _finiteness(a)
        both = (
            f"{kinds[0]} in both runs"
            if kinds[0] == kinds[1]
            else f"{kinds[0]} in run 1 and {kinds[1]} in run {run}"
        )
        detail = (
            f"the loss of iteration {iteration} is {both}, and losses that are not finite cannot be"
            " compared; find out first where it stops being finite"
        )
    return Comparison(
        iteration=iteration,
        kind=pair.checked.kind,
        run=run,
        rank=trace.rank,
        loss_index=index - first,
        passed=passed,
        max_difference=difference if difference is None or math.isfinite(difference) else None,
        allowed=tolerance.atol + tolerance.rtol * abs(b) if math.isfinite(b) else None,
        ulp=ulp_distance(a, b, dtype) if dtype == reference_dtype else None,
        reference=b,
        value=a,
        detail=detail,
    )


def _finiteness(value: float) -> str:
    """`NaN`, `infinite` or `finite`."""
    if value != value:
        return "NaN"
    return "infinite" if value in (float("inf"), float("-inf")) else "finite"


def _no_row(kind: CheckKind, run: int, rank: int, iteration: int, detail: str) -> Comparison:
    return Comparison(
        iteration=iteration,
        kind=kind,
        run=run,
        rank=rank,
        loss_index=None,
        passed=None,
        max_difference=None,
        allowed=None,
        ulp=None,
        detail=detail,
    )


def _other_number(iteration: int, run: int, count: int, expected: int, where: str = "") -> str:
    return (
        f"iteration {iteration} holds {words.count(expected, 'loss')}{where} in run 1 and {count}"
        f" in run {run} ({words.RANKS}), so they cannot be paired; make the number of backward"
        " passes an iteration the same in every run"
    )


def _too_few(trace: Trace, run: int, iteration: int) -> str:
    count = len(trace.losses)
    remedy = (
        "train for more iterations"
        if trace.stopped_at is None
        else f"record more with --steps {iteration} or higher"
    )
    recorded = f"run {run} recorded {words.count(count, 'iteration')} ({words.RANKS})"
    return f"{recorded}, and the check needs iteration {iteration}; {remedy}"


def _unchanged(updates: int, run: int) -> str:
    if updates == 1:
        return f"the one recorded update of run {run} did not change the weights"
    return f"none of the {updates} recorded updates of run {run} changed the weights"


def _why_missing(trace: Trace, kind: CheckKind, run: int) -> str:
    count, rank = len(trace.losses), f"({words.RANKS})"
    if not len(trace.losses.values):
        return (
            f"run {run} made {words.count(count, 'update')} and no loss was seen {rank};"
            f" {CALL_LOG_LOSS}"
        )
    if kind == "forward":
        return (
            f"no loss was seen before the first update in run {run} {rank}; call"
            " reprocheck.log_loss(loss) from the first iteration on"
        )
    if count < 2:
        return _too_few(trace, run, 2)
    more = "" if trace.stopped_at is None else f"; record more than {count} iterations with --steps"
    if trace.unchanged_updates >= count:
        return (
            f"{_unchanged(trace.unchanged_updates, run)} {rank}, so nothing is known of the"
            " backward pass; look at the learning rate and at what is frozen,"
            f" or{more[1:] or ' train for more iterations'}"
        )
    if trace.unchanged_passes:
        return (
            f"the weights did not change in the {count} recorded iterations of run {run} {rank}, "
            f"so nothing is known of the backward pass{more or '; train for more iterations'}"
        )
    if trace.unchanged_updates:
        return (
            f"no loss was seen after an update that changed the weights in the {count} recorded"
            f" iterations of run {run} {rank}, so nothing is known of the backward"
            f" pass{more or '; train for more iterations'}"
        )
    return (
        f"no loss was seen after the first update that changed the weights in run {run} {rank};"
        f" {CALL_LOG_LOSS}"
    )
