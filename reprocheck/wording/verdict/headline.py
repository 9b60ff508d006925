"""The headline of a verdict, and what a sample of runs says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reprocheck.language import count, mark, tr
from reprocheck.model import (
    Divergence,
    OneIsLonger,
    Outcomes,
    SeriesComparison,
    Verdict,
    VerdictName,
)
from reprocheck.wording.verdict.numbers import apart, sizes, where

_TITLES: Mapping[VerdictName, str] = {
    "reproducible": mark("REPRODUCIBLE"),
    "not_reproducible": mark("NOT REPRODUCIBLE"),
    "seed_without_effect": mark("SEED WITHOUT EFFECT"),
    "inconclusive": mark("INCONCLUSIVE"),
    "script_failed": mark("SCRIPT FAILED"),
    "timed_out": mark("TIMED OUT"),
}


def title(verdict: Verdict) -> str:
    """Return the headline; its first words correspond to the exit code."""
    if verdict.broken_rule:
        return tr("FAILED BY --fail-on {rule}: {own}", rule=verdict.broken_rule, own=_own(verdict))
    return _own(verdict)


def _own(verdict: Verdict) -> str:
    """Return the criterion's own verdict."""
    if verdict.failed_check is not None:
        return tr("NOT REPRODUCIBLE ({check})", check=tr(verdict.failed_check))
    if verdict.verdict == "reproducible" and verdict.first_divergence is not None:
        return tr("PASSES THE CHECKS, DIVERGES from {place}", place=_from(verdict.first_divergence))
    if verdict.verdict == "reproducible" and verdict.differing_series:
        differing = _differing(verdict.differing_series)
        return tr("PASSES THE CHECKS, {differing}", differing=differing)
    return tr(_TITLES[verdict.verdict])


def _from(divergence: Divergence) -> str:
    """Return `iteration 6 (1.36 against 1.56)`, run 1 first."""
    iteration, reference, value = divergence.iteration, divergence.reference, divergence.value
    if value is None or reference is None:
        detail = divergence.detail
        return tr("iteration {iteration} ({detail})", iteration=iteration, detail=detail)
    return tr("iteration {iteration} ({apart})", iteration=iteration, apart=apart(reference, value))


def _differing(series: Sequence[SeriesComparison]) -> str:
    """Return the first differing series, and how many others differ.

    `val_loss DIFFERS from step 100 (0.25 against 0.26)`
    """
    first, *others = series
    place = first.first_outside
    assert place is not None, "a series that differs does so somewhere"
    step, values = where(place), sizes(place)
    differs = tr("{name} DIFFERS from {where} ({sizes})", name=first.name, where=step, sizes=values)
    if others:
        differs += tr(", and {others} more series", others=len(others))
    return differs


def statement(outcomes: Outcomes) -> str:
    """Say how many outcomes the runs have, and which share of differing runs is excluded.

    The number of runs decides the share.
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
