"""The forward and the backward check: every run against run 1, every rank, every loss in the
list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite, isinf, isnan
from typing import TYPE_CHECKING

from reprocheck.language import count, form, mark, tr
from reprocheck.model import (
    NOT_RECORDED,
    Checked,
    CheckKind,
    Comparison,
    Run,
    Tolerance,
    Trace,
)
from reprocheck.verdict import exact, words
from reprocheck.verdict.series import column, differs
from reprocheck.verdict.ulp import ulp_distance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CALL_LOG_LOSS = mark("call reprocheck.log_loss(loss) in every iteration")
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
    """Return one row for each later run, rank and check, in this order: run, rank, forward before
    backward.
    """
    return tuple(_rows(runs, tolerance))


def pair_up(trace: Trace, reference: Trace, kind: CheckKind, run: int) -> Pair:
    """Find the losses of a check in both runs.

    The iteration of run 1 rules. Raises CannotCompare.
    """
    if not reference.checked(kind).count:
        raise CannotCompare(_why_missing(reference, kind, 1))
    pair = {"forward": _forward_pair, "backward": _backward_pair}[kind]
    return pair(trace, reference, run)


def _forward_pair(trace: Trace, reference: Trace, run: int) -> Pair:
    if trace.forward is None:
        raise CannotCompare(_why_missing(trace, "forward", run))
    checked = reference.checked("forward")
    held, expected = trace.forward.count, checked.count
    if held != expected:
        raise CannotCompare(_other_number(1, run, held, expected, tr(" before the first update")))
    return Pair(checked=checked, start=0, reference_start=checked.start, length=expected)


def _backward_pair(trace: Trace, reference: Trace, run: int) -> Pair:
    checked = reference.checked("backward")
    iteration = checked.iteration
    if len(trace.losses) < iteration:
        raise CannotCompare(_too_few(trace, run, iteration))
    # Losses of the iteration before, recorded after its update, belong to the check, too.
    rest = max(0, reference.losses.until(iteration - 1) - checked.start)
    first = iteration - bool(rest)
    for number in range(first, iteration + 1):
        held, expected = losses_in(trace, number), losses_in(reference, number)
        if held != expected:
            raise CannotCompare(_other_number(number, run, held, expected))
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


def _rows(runs: Sequence[Run], tolerance: Tolerance) -> Iterator[Comparison]:
    several = words.several_ranks(runs)
    for run in runs[1:]:
        own, references = run.by_rank, runs[0].by_rank
        ranks = sorted(references.keys() | own.keys())
        for rank, kind in product(ranks, KINDS):
            row = _row(own, references, kind, run.number, rank, tolerance)
            yield replace(
                row,
                detail=words.of_ranks(row.detail, tr("rank {rank}", rank=rank), several=several),
            )


def _row(
    own: Mapping[int, Trace],
    references: Mapping[int, Trace],
    kind: CheckKind,
    run: int,
    rank: int,
    tolerance: Tolerance,
) -> Comparison:
    if rank not in references:
        why = tr("rank {rank} was recorded in run {run} and not in run 1", rank=rank, run=run)
        return _no_row(NOT_RECORDED[kind], run, rank, why)
    reference = references[rank]
    checked = reference.checked(kind)
    if rank not in own:
        why = tr("rank {rank} was recorded in run 1 and not in run {run}", rank=rank, run=run)
        return _no_row(checked, run, rank, why)
    try:
        pair = pair_up(own[rank], reference, kind, run)
    except CannotCompare as error:
        return _no_row(checked, run, rank, str(error))
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
        for place in exact.places(own, other, pair.length, start, reference_start)
        if exact.outside(own, start + place, other, reference_start + place, tolerance)
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
    """Return the place of the first loss that is finite in one run only, else of the one with the
    largest difference against what is allowed; `otherwise` where all are equal.
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
    """Return the row that shows the loss at `place` of the range."""
    index, iteration = pair.reference_start + place, pair.checked.iteration
    first = reference.losses.span(iteration)[0]
    if index < first:
        iteration -= 1
        first = reference.losses.span(iteration)[0]
    own_index = pair.start + place
    a, b = trace.losses.values[own_index], reference.losses.values[index]
    dtype, reference_dtype = trace.losses.dtype(own_index), reference.losses.dtype(index)
    difference, detail = abs(a - b), ""
    ulp = ulp_distance(a, b, dtype)
    if dtype != reference_dtype:
        ulp, detail = (
            None,
            tr(
                "{dtype} in run {run}, {reference_dtype} in run 1",
                dtype=dtype,
                run=run,
                reference_dtype=reference_dtype,
            ),
        )
    apart = exact.difference(trace.losses, own_index, reference.losses, index)
    # Two losses that no double tells apart, though they are not equal.
    if difference == 0.0 and apart:
        difference = float(apart)
        shown, other = exact.shown(trace.losses, own_index), exact.shown(reference.losses, index)
        detail = tr(
            "run {run} has loss {shown} where run 1 has {other}", run=run, shown=shown, other=other
        )
    if passed is None:
        detail = _not_finite(a, b, iteration, run)
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
        detail=detail,
    )


def _finite_or_none(value: float) -> float | None:
    if isfinite(value):
        return value
    return None


def _not_finite(value: float, reference: float, iteration: int, run: int) -> str:
    """Return why two losses that are both not finite cannot be compared."""
    own, other = _finiteness(value), _finiteness(reference)
    both = tr("{other} in run 1 and {own} in run {run}", other=other, own=own, run=run)
    if own == other:
        both = tr("{own} in both runs", own=own)
    return tr(
        "the loss of iteration {iteration} is {both}, and losses that are not finite cannot be"
        " compared; first find where it stops being finite",
        iteration=iteration,
        both=both,
    )


def _finiteness(value: float) -> str:
    """`NaN`, `infinite` or `finite`."""
    if isnan(value):
        return "NaN"
    if isinf(value):
        return tr("infinite")
    return tr("finite")


def _no_row(checked: Checked, run: int, rank: int, detail: str) -> Comparison:
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
        detail=detail,
    )


def _other_number(iteration: int, run: int, number: int, expected: int, where: str = "") -> str:
    return tr(
        "iteration {iteration} holds {losses}{where} in run 1 and {number}"
        " in run {run} ({ranks}), so they cannot be paired; make the number of backward"
        " passes an iteration the same in every run",
        iteration=iteration,
        losses=count(expected, "loss", "losses"),
        where=where,
        number=number,
        run=run,
        ranks=words.RANKS,
    )


def _too_few(trace: Trace, run: int, iteration: int) -> str:
    recorded = len(trace.losses)
    remedy = _longer(
        trace, tr("record more with --steps {iteration} or higher", iteration=iteration)
    )
    return tr(
        "run {run} recorded {iterations} ({ranks}), and the check needs iteration {iteration};"
        " {remedy}",
        run=run,
        iterations=count(recorded, "iteration"),
        ranks=words.RANKS,
        iteration=iteration,
        remedy=remedy,
    )


def _longer(trace: Trace, record: str) -> str:
    """Return what to do where more iterations are needed: to `record` them if there were any."""
    if trace.stopped_at is not None:
        return record
    return tr("train for more iterations")


def _why_missing(trace: Trace, kind: CheckKind, run: int) -> str:
    recorded, ranks = len(trace.losses), words.RANKS
    if not len(trace.losses.values):
        return tr(
            "run {run} made {updates} and no loss was seen ({ranks}); {call_log_loss}",
            run=run,
            updates=count(recorded, "update"),
            ranks=ranks,
            call_log_loss=tr(CALL_LOG_LOSS),
        )
    if kind == "forward":
        return tr(
            "no loss was seen before the first update in run {run} ({ranks}); call"
            " reprocheck.log_loss(loss) from the first iteration on",
            run=run,
            ranks=ranks,
        )
    if recorded < 2:
        return _too_few(trace, run, 2)
    remedy = _longer(
        trace, tr("record more than {recorded} iterations with --steps", recorded=recorded)
    )
    if trace.unchanged_updates >= recorded:
        return tr(
            "{unchanged} ({ranks}), so nothing is known of the"
            " backward pass; look at the learning rate and at what is frozen, or {remedy}",
            unchanged=form(
                trace.unchanged_updates,
                "the one recorded update of run {run} did not change the weights",
                "none of the {updates} recorded updates of run {run} changed the weights",
                updates=trace.unchanged_updates,
                run=run,
            ),
            ranks=ranks,
            remedy=remedy,
        )
    if trace.unchanged_passes:
        return tr(
            "the weights did not change in the {recorded} recorded iterations of run {run}"
            " ({ranks}), so the backward pass was not tested; {remedy}",
            recorded=recorded,
            run=run,
            ranks=ranks,
            remedy=remedy,
        )
    if trace.unchanged_updates:
        return tr(
            "no loss was seen after an update that changed the weights in the {recorded} recorded"
            " iterations of run {run} ({ranks}), so the backward pass was not tested; {remedy}",
            recorded=recorded,
            run=run,
            ranks=ranks,
            remedy=remedy,
        )
    return tr(
        "no loss was seen after the first update that changed the weights in run {run} ({ranks});"
        " {call_log_loss}",
        run=run,
        ranks=ranks,
        call_log_loss=tr(CALL_LOG_LOSS),
    )
