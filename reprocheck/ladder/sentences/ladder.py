"""The sentence of a whole ladder, and what its runs did not record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reprocheck.ladder import words
from reprocheck.ladder.finding import Finding
from reprocheck.model import Rung
from reprocheck.model.evidence import GivenOtherwise, LeftBehind
from reprocheck.model.letters import small
from reprocheck.model.ranks import named, together

NOTHING_RECORDED = "The two runs at a deeper level recorded nothing in common."
_ALL_AGREES = "Both runs agree in everything that was recorded."


def behind(finding: Finding, first: Finding) -> str:
    """A difference that can follow from the first."""
    before = f"`{first.rung}`"
    if finding.rank != first.rank:
        before += f" of rank {first.rank}"
    return (
        f"{words.code(finding.place)} is the first here that differs; the difference on the rung"
        f" {before} comes before it."
    )


def where_and_why(rung: Rung | None, first: Finding | None, where: str) -> str:
    """Where the runs first diverge: on this rung, whose finding is `first`; `where`: on which
    ranks, where there are several.
    """
    given = _given(rung, first)
    if given:
        return given
    if first is not None:
        return words.sentence(f"{first.sentence.rstrip('.')} {where}")
    if rung is not None:
        return words.sentence(rung.detail)
    return _ALL_AGREES


def hidden(series: str) -> str:
    """A series alone differs, and nothing that was recorded deeply."""
    return (
        f"The training agrees in everything that was recorded; what computes {words.code(series)}"
        " was not."
    )


def agreed_again(rung: Rung | None, iterations: int) -> str:
    """Two runs that agree, although others did not; `rung` differs nevertheless."""
    also = ""
    if rung is not None and rung.detail:
        also = f", although {_clause(rung.detail)}"
    return _given(rung, None) or (
        "The difference did not come back: two runs recorded again agree in everything that was"
        f" recorded of their first {iterations} iterations{also}. It is intermittent; `--runs N`"
        " shows how often it happens."
    )


def _given(rung: Rung | None, first: Finding | None) -> str:
    """What the runs were given otherwise, or what run 1 left; "" where a rung is neither."""
    if rung is None:
        return ""
    if isinstance(rung.evidence, GivenOtherwise):
        differs = _clause(rung.detail)
        return f"The two runs were given different inputs: {differs}{_follows(first)}."
    if isinstance(rung.evidence, LeftBehind):
        return (
            f"Run 2 starts from what run 1 left behind: it reads `{rung.place}`, which run 1"
            f" wrote{_follows(first)}."
        )
    return ""


def _clause(sentence: str) -> str:
    return small(sentence).rstrip(".")


def _follows(first: Finding | None) -> str:
    if first is None:
        return ""
    return (
        f"; the first difference that follows is on the rung {words.code(first.rung)} at"
        f" `{first.place}`"
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


def not_recorded(lines: Mapping[int, Sequence[str]]) -> list[str]:
    """What could not be recorded, by rank; with the ranks where there are several."""
    said = [(rank, line) for rank, of_rank in lines.items() for line in of_rank]
    if len(lines) < 2:
        return [line for _, line in said]
    return [f"{which.capitalize()}: {line}" for which, line in together(said)]
