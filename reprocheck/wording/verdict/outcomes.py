"""What a sample of runs says."""

from __future__ import annotations

from reprocheck.language import count
from reprocheck.model import OneIsLonger, Outcomes


def statement(outcomes: Outcomes) -> str:
    """Say how many different outcomes the runs have, and which share of differing runs this number
    excludes.
    """
    if not outcomes.groups:
        return "No run recorded a loss, so there are no outcomes to count."
    if outcomes.longer is not None:
        return _longer(outcomes.longer)
    bound = outcomes.bound
    if bound is None:
        return "One run cannot show a difference."
    first, *further = (len(group.runs) for group in outcomes.groups)
    different = sum(further)
    others = first - 1 + different
    if others == 1:
        return _of_two(different, bound)
    at_most = f"With 95 % confidence at most {bound:.1%} of runs differ from run 1."
    if not different:
        return f"All {others + 1} runs gave the same losses in every bit. {at_most}"
    if bound == 1:
        at_most = "This excludes no share of differing runs."
    return (
        f"{different} of the {others} other runs differ from run 1;"
        f" {len(outcomes.groups)} different outcomes were seen. {at_most}"
    )


def _longer(longer: OneIsLonger) -> str:
    lengths = f"{longer.first} against {count(longer.second, 'iteration')}"
    equal = "As far as both runs go, their losses are equal in every bit"
    if longer.ended:
        return f"{equal}; run {longer.ended} was ended in between ({lengths})."
    return f"{equal}. One run is longer: {lengths}."


def _of_two(different: int, bound: float) -> str:
    if different:
        return (
            "The two runs gave different losses. Two runs exclude almost nothing: any share"
            " of further runs could differ from run 1."
        )
    return (
        "Both runs gave the same losses in every bit. Two runs exclude almost nothing:"
        f" up to {bound:.0%} of further runs could still differ from run 1 (--runs N"
        " excludes more)."
    )
