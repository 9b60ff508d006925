"""What a reader must know beside the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reprocheck.model import Bitwise, Comparison, Divergence, Run, Trace, VerdictName
from reprocheck.model.ranks import together
from reprocheck.verdict import words
from reprocheck.verdict.checks import traces
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
    """In the order of importance, without repetition."""
    found: list[str] = []
    if verdict == "reproducible":
        found += _loose_pass(rows, bitwise, dtype)
    if runs and verdict not in ("script_failed", "timed_out"):
        found += _endings(runs)
    found += early(runs)
    references = traces(runs[0]) if runs else {}
    several = words.several_ranks(runs)
    for run in runs:
        said = (
            (trace.rank, text)
            for trace in run.traces
            for text in _weights(run, trace, references.get(trace.rank))
        )
        found += (words.of_ranks(text, ranks, several=several) for ranks, text in together(said))
    found += _lengths(runs)
    return tuple(dict.fromkeys(found))


def _loose_pass(rows: Sequence[Comparison], bitwise: Bitwise, dtype: str | None) -> Iterator[str]:
    if bitwise.equal is False and not bitwise.one_is_longer:
        size = (
            f", by up to {bitwise.ulp} ULP of {dtype}" if bitwise.ulp is not None and dtype else ""
        )
        where = f"the first difference is in iteration {bitwise.first_iteration}{size}"
        yield (
            "The checks pass within the tolerance, but the runs are not equal in every bit:"
            f" {where}."
        )
    if bitwise.equal is False and not bitwise.one_is_longer:
        for row in rows:
            if (
                row.passed
                and row.allowed is not None
                and row.reference is not None
                and row.allowed >= _WIDE * abs(row.reference)
            ):
                yield (
                    f"The tolerance is wide for a loss of {words.number(row.reference)}:"
                    f" {row.allowed:.3g} is allowed ({row.kind} check, run {row.run}); a smaller"
                    " --atol sees more."
                )
                break


def _endings(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        if run.record.ended in ("failed", "timed_out", "interrupted"):
            iterations = max((len(trace.losses) for trace in run.traces), default=0)
            who = lost(run)
            yield (
                f"Run {run.number} {words.ending(run)}, after"
                f" {words.count(iterations, 'recorded iteration')}{f'; {who}' if who else ''}."
            )


def _weights(run: Run, trace: Trace, reference: Trace | None) -> Iterator[str]:
    who = f"run {run.number}, {words.RANKS}"
    checked, ruling = trace.backward, None if reference is None else reference.backward
    if checked is not None and not trace.weights_seen:
        yield (
            f"Whether updates change the weights could not be seen ({words.RANKS}); the first"
            " update is taken to be a real one."
        )
    if reference is trace and checked is not None and checked.iteration > 2:
        before = f"{_before_the_first_change(trace)} ({words.RANKS})"
        yield (
            f"{before}, so the second check is made on iteration {checked.iteration} instead of"
            " iteration 2."
        )
    if (
        reference is not trace
        and ruling is not None
        and (checked is None or checked.iteration != ruling.iteration)
    ):
        own = (
            "do not change in the recorded iterations"
            if checked is None
            else f"first change in iteration {checked.iteration - 1}"
        )
        if len(trace.losses) >= ruling.iteration:
            first = f"In run 1 the weights first change in iteration {ruling.iteration - 1}"
            yield f"{first}; in {who} they {own}. The iteration of run 1 was checked."
    last = ruling.iteration if ruling is not None else 2
    for iteration in trace.skipped:
        if iteration <= last:
            yield f"A gradient scaler skipped a step in iteration {iteration} ({who})."


def _before_the_first_change(trace: Trace) -> str:
    if trace.unchanged_updates:
        return f"{_first_updates(trace.unchanged_updates)} did not change the weights"
    if trace.unchanged_passes:
        passes = trace.unchanged_passes + 1
        return (
            f"The first {passes} losses come from the same weights, as in gradient accumulation or"
            " with a step of size 0"
        )
    return "No earlier change was seen"


def _first_updates(number: int) -> str:
    return "The first update" if number == 1 else f"The first {number} updates"


def _lengths(runs: Sequence[Run]) -> Iterator[str]:
    if not runs:
        return
    references = traces(runs[0])
    several = words.several_ranks(runs)
    for run in runs[1:]:
        others = [
            (trace, references[trace.rank])
            for trace in run.traces
            if trace.rank in references and len(trace.losses) != len(references[trace.rank].losses)
        ]
        said = (
            (
                trace.rank,
                (
                    f"Run {run.number} recorded {words.count(len(trace.losses), 'iteration')} of"
                    f" {words.RANKS}, run 1 recorded {len(reference.losses)}."
                ),
            )
            for trace, reference in others
        )
        yield from (words.of_ranks(text, ranks, several=several) for ranks, text in together(said))
