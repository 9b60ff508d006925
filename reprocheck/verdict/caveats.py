"""What a reader must know beside the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite

from reprocheck.language import count, form, tr
from reprocheck.model import (
    NOT_RECORDED,
    Bitwise,
    Checked,
    Comparison,
    Divergence,
    Run,
    Trace,
    VerdictName,
)
from reprocheck.model.ranks import together
from reprocheck.verdict import words
from reprocheck.verdict.lost import early, lost

_WIDE = 0.1
"""A tolerance is called wide from this share of the loss on."""


def caveats(
    runs: Sequence[Run],
    rows: Sequence[Comparison],
    bitwise: Bitwise,
    divergence: Divergence | None,
    verdict: VerdictName,
    dtype: str | None,
) -> tuple[str, ...]:
    """Return the caveats in the order of importance, without repetition."""
    if not runs:
        return ()
    found: list[str] = []
    if verdict == "reproducible":
        found += _loose_pass(rows, bitwise, dtype)
        found += _not_finite(runs[0])
    if verdict not in ("script_failed", "timed_out"):
        found += _endings(runs)
    found += early(runs)
    references = runs[0].by_rank
    several = words.several_ranks(runs)
    breaks = (_of_all(run, _break, references) for run in runs)
    weights = (_of_all(run, _weights, references) for run in runs)
    lengths = (_of_all(run, _length, references) for run in runs[1:])
    for said in (*breaks, *weights, *lengths):
        found += (words.of_ranks(text, ranks, several=several) for ranks, text in said)
    return tuple(dict.fromkeys(found))


def _of_all(
    run: Run,
    say: Callable[[Run, Trace, Trace | None], Iterable[str]],
    references: Mapping[int, Trace],
) -> Iterator[tuple[str, str]]:
    """Return what is said of the ranks of a run, beside the same ranks of run 1: each sentence
    once, with the name of its ranks.
    """
    return together(
        (trace.rank, text)
        for trace in run.traces
        for text in say(run, trace, references.get(trace.rank))
    )


def _loose_pass(rows: Sequence[Comparison], bitwise: Bitwise, dtype: str | None) -> Iterator[str]:
    """Yield what a pass within the tolerance does not say."""
    if bitwise.equal is not False or bitwise.one_is_longer:
        return
    where = tr(
        "the first difference is in iteration {first_iteration}",
        first_iteration=bitwise.first_iteration,
    )
    if bitwise.ulp is not None and dtype:
        where += tr(", by up to {ulp:,} ULP of {dtype}", ulp=bitwise.ulp, dtype=dtype)
    yield tr(
        "The checks pass within the tolerance, but the runs are not equal in every bit: {where}.",
        where=where,
    )
    # One row stands for all.
    yield from islice(filter(None, map(_wide, rows)), 1)


def _not_finite(run: Run) -> Iterator[str]:
    """Say from which iteration on a loss is no number: equal ones agree in nothing."""
    for trace in run.traces:
        losses = trace.losses
        if all(map(isfinite, losses.values)):
            continue
        iterations = range(1, len(losses) + 1)
        first = next(one for one in iterations if not all(map(isfinite, losses.losses(one))))
        yield tr(
            "The loss of iteration {iteration} is NaN or infinite: what agrees from there on says"
            " nothing of the training.",
            iteration=first,
        )
        return


def _wide(row: Comparison) -> str:
    """Return the sentence that the tolerance of a row is wide for its loss; empty where it is
    not.
    """
    if not row.passed or row.allowed is None or row.reference is None:
        return ""
    if row.allowed < _WIDE * abs(row.reference):
        return ""
    return tr(
        "The tolerance is wide for a loss of {reference}: {allowed:.3g} is"
        " allowed ({kind} check, run {run}); a smaller --atol finds smaller differences.",
        reference=words.number(row.reference),
        allowed=row.allowed,
        kind=tr(row.kind),
        run=row.run,
    )


def _endings(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        if run.record.ended_as_planned:
            continue
        recorded = count(run.longest, "recorded iteration")
        detail = words.behind(lost(run))
        yield tr(
            "Run {number} {ending}, after {recorded}{detail}.",
            number=run.number,
            ending=words.ending(run),
            recorded=recorded,
            detail=detail,
        )


def _break(run: Run, trace: Trace, _: Trace | None) -> Iterator[str]:
    """Yield the sentence that the recording of a rank breaks off while its training went on."""
    if trace.broken:
        yield tr(
            "The recording of run {number} breaks off after iteration {closed}, {ranks} ({why}):"
            " later ones are not compared.",
            number=run.number,
            closed=trace.closed,
            ranks=words.RANKS,
            why=trace.broken,
        )


def _weights(run: Run, trace: Trace, reference: Trace | None) -> Iterator[str]:
    """Yield what was seen of the weights of a rank, where it moves or weakens the second check."""
    if trace.backward is not None and not trace.weights_seen:
        yield tr(
            "Whether updates change the weights could not be seen ({ranks}); the first update is"
            " taken to be a real one.",
            ranks=words.RANKS,
        )
    who = tr("run {number}, {ranks}", number=run.number, ranks=words.RANKS)
    ruling = NOT_RECORDED["backward"]
    if reference is not None:
        ruling = reference.checked("backward")
        yield from _first_changes(trace, reference, who)
    for iteration in trace.skipped:
        if iteration <= ruling.iteration:
            yield tr(
                "A gradient scaler skipped a step in iteration {iteration} ({who}).",
                iteration=iteration,
                who=who,
            )


def _first_changes(trace: Trace, reference: Trace, who: str) -> Iterator[str]:
    """Yield the sentence that weights first change later than in the first iteration; in a later
    run, that they do in another one than in run 1.
    """
    checked, ruling = trace.backward, reference.backward
    if ruling is None or len(trace.losses) < ruling.iteration:
        return
    if reference is trace:
        yield from _late_check(trace, ruling)
        return
    own = tr("do not change in the recorded iterations")
    if checked is not None:
        own = tr("first change in iteration {iteration}", iteration=checked.iteration - 1)
    if checked is None or checked.iteration != ruling.iteration:
        first = tr(
            "In run 1 the weights first change in iteration {iteration}",
            iteration=ruling.iteration - 1,
        )
        yield tr(
            "{first}; in {who} they {own}. The iteration of run 1 was checked.",
            first=first,
            who=who,
            own=own,
        )


def _late_check(trace: Trace, checked: Checked) -> Iterator[str]:
    """Yield the sentence that the second check of run 1 is not made on iteration 2, and why."""
    if checked.iteration > 2:
        yield tr(
            "{before} ({ranks}), so the second check is made on iteration {iteration} instead of"
            " iteration 2.",
            before=_before_the_first_change(trace),
            ranks=words.RANKS,
            iteration=checked.iteration,
        )


def _before_the_first_change(trace: Trace) -> str:
    if trace.unchanged_updates:
        return form(
            trace.unchanged_updates,
            "The first update did not change the weights",
            "The first {number} updates did not change the weights",
            number=trace.unchanged_updates,
        )
    if trace.unchanged_passes:
        passes = trace.unchanged_passes + 1
        return tr(
            "The first {passes} losses come from the same weights, as in gradient accumulation or"
            " with a step of size 0",
            passes=passes,
        )
    return tr("No earlier change was seen")


def _length(run: Run, trace: Trace, reference: Trace | None) -> Iterator[str]:
    """Yield the sentence that a rank did not record as many iterations as in run 1."""
    if reference is None or len(trace.losses) == len(reference.losses):
        return
    recorded = tr(
        "Run {number} recorded {iterations}",
        number=run.number,
        iterations=count(len(trace.losses), "iteration"),
    )
    yield tr(
        "{recorded} of {ranks}, run 1 recorded {losses}.",
        recorded=recorded,
        ranks=words.RANKS,
        losses=len(reference.losses),
    )
