"""The sentence of a whole ladder, and what its runs did not record."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.ladder import words
from reprocheck.ladder.finding import Finding
from reprocheck.model import Rung
from reprocheck.model.evidence import GivenOtherwise, LeftBehind
from reprocheck.model.letters import small
from reprocheck.model.ranks import named, together
from reprocheck.trace.deep import DeepTrace

NOTHING_RECORDED = "The two runs at a deeper level recorded nothing in common."
_ALL_AGREES = "both runs agree in everything that was recorded"


def behind(finding: Finding, first: Finding) -> str:
    """A difference that can follow from the first."""
    before = f"`{first.rung}`"
    if finding.rank != first.rank:
        before += f" of rank {first.rank}"
    return (
        f"{words.code(finding.place)} is the first here that differs; the difference on the rung"
        f" {before} comes before it."
    )


def where_and_why(
    rung: Rung | None, first: Finding | None, where: str, *, agreed_for: int | None
) -> str:
    """Where the runs first diverge: on this rung, whose finding is `first`.

    where       on which ranks, where there are several
    agreed_for  iterations of the runs, where they agree although others did not
    """
    evidence = rung.evidence if rung is not None else None
    detail = rung.detail if rung is not None else ""
    if isinstance(evidence, GivenOtherwise):
        text = f"the two runs were given different inputs: {_clause(detail)}{_follows(first)}"
    elif rung is not None and isinstance(evidence, LeftBehind):
        text = (
            f"run 2 starts from what run 1 left behind: it reads `{rung.place}`, which run 1"
            f" wrote{_follows(first)}"
        )
    elif agreed_for is not None:
        text = _intermittent(detail, agreed_for)
    elif first is not None:
        text = " ".join(filter(None, (first.sentence.rstrip("."), where)))
    else:
        text = detail or _ALL_AGREES
    return words.sentence(text)


def _clause(sentence: str) -> str:
    return small(sentence).rstrip(".")


def _follows(first: Finding | None) -> str:
    if first is None:
        return ""
    return (
        f"; the first difference that follows is on the rung {words.code(first.rung)} at"
        f" `{first.place}`"
    )


def _intermittent(differs: str, iterations: int) -> str:
    """Two runs that agree, although others did not; `differs`: what does nevertheless."""
    also = f", although {_clause(differs)}" if differs else ""
    return (
        "the difference did not come back: two runs recorded again agree in everything that was"
        f" recorded of their first {iterations} iterations{also}. It is intermittent; `--runs N`"
        " shows how often it happens"
    )


def on_ranks(same: Sequence[int], of: int) -> str:
    """The ranks that have the first difference, of so many."""
    if len(same) < of:
        return f"({named(same)})"
    if of == 2:
        return "(on both ranks)"
    return f"(on all {of} ranks)"


def later(iteration: int) -> str:
    """Losses that differ behind the iterations that were recorded deeply."""
    return f"The losses of iteration {iteration} differ."


def only_later(iteration: int, agreeing: int) -> str:
    """Runs that begin to differ behind the iterations that were recorded deeply."""
    return (
        f"The first {agreeing} iterations agree in everything that was recorded; the losses differ"
        f" from iteration {iteration} on."
    )


def of_one_run(ranks: Sequence[int]) -> str:
    """Ranks that only one of the two runs recorded."""
    return (
        f"One of the two runs recorded {named(ranks)}, the other did not: nothing is compared"
        " there."
    )


def not_recorded(traces: Sequence[DeepTrace]) -> list[str]:
    """What could not be recorded, with the ranks where there are several."""
    said = [(trace.rank, line) for trace in traces for line in _not_recorded(trace)]
    several = len({trace.rank for trace in traces}) > 1
    return [f"{which.capitalize()}: {line}" if several else line for which, line in together(said)]


def _not_recorded(trace: DeepTrace) -> list[str]:
    places = [": ".join(filter(None, parts)) for parts in trace.unrecorded]
    return [*places, *trace.problems]
