"""What a reader must know beside the verdict."""

from __future__ import annotations

from reprocheck.language import count, form, tr
from reprocheck.model.statements.verdict import (
    EndedOtherwise,
    LateCheck,
    LoosePass,
    OtherFirstChange,
    OtherLength,
    RanksOfRun,
    WideTolerance,
)
from reprocheck.wording.say import say
from reprocheck.wording.verdict.ended_ranks import behind
from reprocheck.wording.verdict.messages import who
from reprocheck.wording.verdict.numbers import number
from reprocheck.wording.verdict.ranks import RANKS, of_ranks


@say.register
def loose_pass(loose: LoosePass) -> str:
    """Say what a pass within the tolerance does not."""
    where = tr(
        "the first difference is in iteration {first_iteration}", first_iteration=loose.iteration
    )
    if loose.ulp is not None and loose.dtype:
        where += tr(", by up to {ulp:,} ULP of {dtype}", ulp=loose.ulp, dtype=loose.dtype)
    return tr(
        "The checks pass within the tolerance, but the runs are not equal in every bit: {where}.",
        where=where,
    )


@say.register
def wide_tolerance(wide: WideTolerance) -> str:
    """Say that the tolerance is wide for a loss."""
    return tr(
        "The tolerance is wide for a loss of {reference}: {allowed:.3g} is"
        " allowed ({kind} check, run {run}); a smaller --atol finds smaller differences.",
        reference=number(wide.reference),
        allowed=wide.allowed,
        kind=tr(wide.kind),
        run=wide.run,
    )


@say.register
def ended_otherwise(run: EndedOtherwise) -> str:
    """Say how a run ended that did not come to its planned end."""
    return tr(
        "Run {number} {ending}, after {recorded}{detail}.",
        number=run.run,
        ending=say(run.ending),
        recorded=count(run.recorded, "recorded iteration"),
        detail=behind(run.lost),
    )


@say.register
def ranks_of_run(of: RanksOfRun) -> str:
    """Say what became of the ranks of a run that went well otherwise."""
    return tr("Run {number}: {sentence}.", number=of.run, sentence=say(of.ranks))


@say.register
def other_first_change(weights: OtherFirstChange) -> str:
    """Say where the weights of two runs first change."""
    own = tr("do not change in the recorded iterations")
    if weights.own is not None:
        own = tr("first change in iteration {iteration}", iteration=weights.own)
    first = tr(
        "In run 1 the weights first change in iteration {iteration}", iteration=weights.reference
    )
    text = tr(
        "{first}; in {who} they {own}. The iteration of run 1 was checked.",
        first=first,
        who=who(weights.run),
        own=own,
    )
    return of_ranks(text, weights.ranks)


@say.register
def late_check(check: LateCheck) -> str:
    """Say why the second check is made on a later iteration."""
    before = tr("No earlier change was seen")
    if check.unchanged:
        before = form(
            check.unchanged,
            "The first update did not change the weights",
            "The first {number} updates did not change the weights",
            number=check.unchanged,
        )
    elif check.passes:
        before = tr(
            "The first {passes} losses come from the same weights, as in gradient accumulation or"
            " with a step of size 0",
            passes=check.passes + 1,
        )
    text = tr(
        "{before} ({ranks}), so the second check is made on iteration {iteration} instead of"
        " iteration 2.",
        before=before,
        ranks=RANKS,
        iteration=check.iteration,
    )
    return of_ranks(text, check.ranks)


@say.register
def other_length(run: OtherLength) -> str:
    """Say how many iterations two runs recorded."""
    recorded = tr(
        "Run {number} recorded {iterations}",
        number=run.run,
        iterations=count(run.own, "iteration"),
    )
    text = tr(
        "{recorded} of {ranks}, run 1 recorded {losses}.",
        recorded=recorded,
        ranks=RANKS,
        losses=run.reference,
    )
    return of_ranks(text, run.ranks)
