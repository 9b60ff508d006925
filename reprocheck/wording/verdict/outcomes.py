"""What a sample of runs says."""

from __future__ import annotations

from reprocheck.language import count, tr
from reprocheck.model import OneIsLonger, Outcomes


def statement(outcomes: Outcomes) -> str:
    """Return how many different outcomes the runs have, and what so many runs exclude."""
    if not outcomes.groups:
        return tr("No run recorded a loss, so there are no outcomes to count.")
    if outcomes.longer is not None:
        return _longer(outcomes.longer)
    bound = outcomes.bound
    if bound is None:
        return tr("One run cannot show a difference.")
    first, *further = (len(group.runs) for group in outcomes.groups)
    different = sum(further)
    others = first - 1 + different
    if others == 1:
        return _of_two(different, bound)
    at_most = tr("With 95 % confidence at most {bound:.1%} of runs differ from run 1.", bound=bound)
    if not different:
        return tr(
            "All {others} runs gave the same losses in every bit. {at_most}",
            others=others + 1,
            at_most=at_most,
        )
    if bound == 1:
        at_most = tr("This excludes no share of differing runs.")
    return tr(
        "{different} of the {others} other runs differ from run 1; {groups} different outcomes"
        " were seen. {at_most}",
        different=different,
        others=others,
        groups=len(outcomes.groups),
        at_most=at_most,
    )


def _longer(longer: OneIsLonger) -> str:
    lengths = tr(
        "{longest} against {iterations}",
        longest=longer.first,
        iterations=count(longer.second, "iteration"),
    )
    equal = tr("As far as both runs go, their losses are equal in every bit")
    if longer.ended:
        return tr(
            "{equal}; run {ended} was ended in between ({lengths}).",
            equal=equal,
            ended=longer.ended,
            lengths=lengths,
        )
    return tr("{equal}. One run is longer: {lengths}.", equal=equal, lengths=lengths)


def _of_two(different: int, bound: float) -> str:
    if different:
        return tr(
            "The two runs gave different losses. Two runs exclude almost nothing: any share of"
            " further runs could differ from run 1."
        )
    return tr(
        "Both runs gave the same losses in every bit. Two runs exclude almost nothing: up to"
        " {bound:.0%} of further runs could still differ from run 1 (--runs N excludes more).",
        bound=bound,
    )
