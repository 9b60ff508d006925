"""The sentence of a whole ladder, and what its runs did not record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reprocheck.ladder import words
from reprocheck.ladder.finding import Finding
from reprocheck.language import joined, mark, tr
from reprocheck.model import Rung
from reprocheck.model.evidence import GivenOtherwise, LeftBehind
from reprocheck.model.letters import capital, clause, unended
from reprocheck.model.ranks import named, together

NOTHING_RECORDED = mark("The two runs at a deeper level recorded nothing in common.")


def behind(finding: Finding, first: Finding) -> str:
    """Return a difference that can follow from the first."""
    before = words.code(tr(first.rung))
    if finding.rank != first.rank:
        before += tr(" of rank {rank}", rank=first.rank)
    return tr(
        "{place} is the first here that differs; the difference on the rung"
        " {before} comes before it.",
        place=words.code(finding.place),
        before=before,
    )


def where_and_why(rung: Rung | None, first: Finding | None, where: str) -> str:
    """Return where the runs first diverge: on this rung, whose finding is `first`; `where`: on
    which ranks, where there are several.
    """
    given = _given(rung, first)
    if given:
        return given
    if first is not None:
        return words.sentence(joined(" ", (unended(first.sentence), where)))
    if rung is not None:
        return words.sentence(rung.detail)
    return tr("Both runs agree in everything that was recorded.")


def hidden(series: str) -> str:
    """Return a series alone differs, and nothing that was recorded deeply."""
    return tr(
        "The training agrees in everything that was recorded; what computes {series} was not.",
        series=words.code(series),
    )


def agreed_again(rung: Rung | None, iterations: int) -> str:
    """Return two runs that agree, although others did not; `rung` differs nevertheless."""
    also = ""
    if rung is not None and rung.detail:
        also = tr(", although {clause}", clause=clause(rung.detail))
    return _given(rung, None) or (
        tr(
            "The difference did not come back: two runs recorded again agree in everything that was"
            " recorded of their first {iterations} iterations{also}. It is intermittent; `--runs N`"
            " shows how often it happens.",
            iterations=iterations,
            also=also,
        )
    )


def _given(rung: Rung | None, first: Finding | None) -> str:
    """Return what the runs were given otherwise, or what run 1 left; "" where a rung is neither."""
    if rung is None:
        return ""
    if isinstance(rung.evidence, GivenOtherwise):
        return tr(
            "The two runs were given different inputs: {differs}{follows}.",
            differs=clause(rung.detail),
            follows=_follows(first),
        )
    if isinstance(rung.evidence, LeftBehind):
        return tr(
            "Run 2 starts from what run 1 left behind: it reads `{place}`, which run 1"
            " wrote{follows}.",
            place=rung.place,
            follows=_follows(first),
        )
    return ""


def _follows(first: Finding | None) -> str:
    if first is None:
        return ""
    return tr(
        "; the first difference that follows is on the rung {rung} at `{place}`",
        rung=words.code(tr(first.rung)),
        place=first.place,
    )


def on_ranks(same: Sequence[int], of: int) -> str:
    """Return the ranks that have the first difference, of so many."""
    if len(same) < of:
        return tr("({ranks})", ranks=named(same))
    if of == 2:
        return tr("(on both ranks)")
    return tr("(on all {of} ranks)", of=of)


def later(iteration: int) -> str:
    """Losses that differ behind the iterations that were recorded deeply."""
    return tr("The losses of iteration {iteration} differ.", iteration=iteration)


def only_later(iteration: int, agreeing: int) -> str:
    """Return runs that begin to differ behind the iterations that were recorded deeply."""
    return tr(
        "The first {agreeing} iterations agree in everything that was recorded; the losses differ"
        " from iteration {iteration} on.",
        agreeing=agreeing,
        iteration=iteration,
    )


def of_one_run(ranks: Sequence[int]) -> str:
    """Ranks that only one of the two runs recorded."""
    return tr(
        "One of the two runs recorded {named}, the other did not: nothing is compared there.",
        named=named(ranks),
    )


def not_recorded(lines: Mapping[int, Sequence[str]]) -> list[str]:
    """Return what could not be recorded, by rank; with the ranks where there are several."""
    said = [(rank, line) for rank, of_rank in lines.items() for line in of_rank]
    if len(lines) < 2:
        return [line for _, line in said]
    return [
        tr("{ranks}: {line}", ranks=capital(named(which)), line=line)
        for which, line in together(said)
    ]
