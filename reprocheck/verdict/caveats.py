"""Caveats: what a reader must know beside the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import isfinite

from reprocheck.model import NOT_RECORDED, Bitwise, Comparison, Run, Trace, VerdictName
from reprocheck.model.ranks import together
from reprocheck.model.statement import Statement
from reprocheck.model.statements.verdict import (
    BreaksOff,
    EndedOtherwise,
    LateCheck,
    LoosePass,
    NotFiniteFrom,
    OfRanks,
    OtherFirstChange,
    OtherLength,
    StepSkipped,
    WeightsNotSeen,
    WideTolerance,
)
from reprocheck.verdict.checks import several_ranks
from reprocheck.verdict.ended_ranks import early, lost
from reprocheck.verdict.failure import ending

_WIDE = 0.1
"""A tolerance is called wide from this share of the loss on."""


def caveats(
    runs: Sequence[Run],
    rows: Sequence[Comparison],
    bitwise: Bitwise,
    verdict: VerdictName,
    dtype: str | None,
) -> tuple[Statement, ...]:
    """Return the caveats in the order of importance, without repetition."""
    if not runs:
        return ()
    statements: list[Statement] = []
    if verdict == "reproducible":
        statements += _loose_pass(rows, bitwise, dtype)
        statements += _not_finite(runs[0])
    if verdict not in ("script_failed", "timed_out"):
        statements += (
            EndedOtherwise(run=run.number, ending=ending(run), recorded=run.longest, lost=lost(run))
            for run in runs
            if not run.record.ended_as_planned
        )
    statements += early(runs)
    references = runs[0].by_rank
    several = several_ranks(runs)
    breaks = (_of_all(run, _break, references) for run in runs)
    weights = (_of_all(run, _weights, references) for run in runs)
    lengths = (_of_all(run, _length, references) for run in runs[1:])
    for of_run in (*breaks, *weights, *lengths):
        statements += (replace(one, ranks=ranks if several else ()) for ranks, one in of_run)
    return tuple(dict.fromkeys(statements))


def _of_all(
    run: Run,
    look: Callable[[Run, Trace, Trace | None], Iterable[OfRanks]],
    references: Mapping[int, Trace],
) -> Iterator[tuple[tuple[int, ...], OfRanks]]:
    """Yield the statements of `look` on each rank of a run, each once with its ranks.

    Each rank is given together with the same rank of run 1.
    """
    return together(
        (trace.rank, statement)
        for trace in run.traces
        for statement in look(run, trace, references.get(trace.rank))
    )


def _loose_pass(
    rows: Sequence[Comparison], bitwise: Bitwise, dtype: str | None
) -> Iterator[Statement]:
    """Yield that losses which pass differ in bits, and that a tolerance is wide."""
    if bitwise.equal is not False or bitwise.one_is_longer:
        return
    yield LoosePass(iteration=bitwise.first_iteration, ulp=bitwise.ulp, dtype=dtype)
    # One row stands for all.
    yield from islice(filter(None, map(_wide, rows)), 1)


def _not_finite(run: Run) -> Iterator[NotFiniteFrom]:
    """Yield the first iteration with a loss that is not finite: two NaN say nothing."""
    for trace in run.traces:
        losses = trace.losses
        if all(map(isfinite, losses.values)):
            continue
        iterations = range(1, len(losses) + 1)
        first = next(one for one in iterations if not all(map(isfinite, losses.losses(one))))
        yield NotFiniteFrom(iteration=first)
        return


def _wide(row: Comparison) -> WideTolerance | None:
    """Return that the tolerance is wide for the loss of a row; None if it is not."""
    if not row.passed or row.allowed is None or row.reference is None:
        return None
    if row.allowed < _WIDE * abs(row.reference):
        return None
    return WideTolerance(kind=row.kind, run=row.run, reference=row.reference, allowed=row.allowed)


def _break(run: Run, trace: Trace, _: Trace | None) -> Iterator[BreaksOff]:
    """Yield that the recording of a rank breaks off while its training went on."""
    if trace.broken:
        yield BreaksOff(run=run.number, closed=trace.closed, why=trace.broken)


def _weights(run: Run, trace: Trace, reference: Trace | None) -> Iterator[OfRanks]:
    """Yield what was seen of the weights of a rank, if that moves or weakens the backward check."""
    if trace.backward is not None and not trace.weights_seen:
        yield WeightsNotSeen()
    ruling = NOT_RECORDED["backward"]
    if reference is not None:
        ruling = reference.checked("backward")
        yield from _first_changes(run, trace, reference)
    for iteration in trace.skipped:
        if iteration <= ruling.iteration:
            yield StepSkipped(run=run.number, iteration=iteration)


def _first_changes(run: Run, trace: Trace, reference: Trace) -> Iterator[OfRanks]:
    """Yield that weights first change after iteration 1, or elsewhere than in run 1.

    Of run 1, or of another run in another iteration.
    """
    checked, ruling = trace.backward, reference.backward
    if ruling is None or len(trace.losses) < ruling.iteration:
        return
    if reference is trace:
        if ruling.iteration > 2:
            unchanged = trace.unchanged_updates
            passes = 0 if unchanged else trace.unchanged_passes
            yield LateCheck(iteration=ruling.iteration, unchanged=unchanged, passes=passes)
        return
    own = checked.iteration - 1 if checked else None
    if own != ruling.iteration - 1:
        yield OtherFirstChange(run=run.number, own=own, reference=ruling.iteration - 1)


def _length(run: Run, trace: Trace, reference: Trace | None) -> Iterator[OtherLength]:
    """Yield that a rank recorded another number of iterations than in run 1."""
    if reference is not None and len(trace.losses) != len(reference.losses):
        yield OtherLength(run=run.number, own=len(trace.losses), reference=len(reference.losses))
