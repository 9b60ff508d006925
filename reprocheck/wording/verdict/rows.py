"""Why a check could not be made, and what is said beside the two losses of a row."""

from __future__ import annotations

from math import isnan

from reprocheck.language import count, form, mark, tr
from reprocheck.model.statements.verdict import (
    NeitherFinite,
    NothingToCheck,
    OtherNumber,
    RankOfOneRun,
    TooFew,
    WithoutPartner,
)
from reprocheck.wording.say import say
from reprocheck.wording.verdict.ranks import RANKS, of_ranks

CALL_LOG_LOSS = mark("call reprocheck.log_loss(loss) in every iteration")
_LACKS = {
    "any": mark("run {run} made {updates} and no loss was seen ({ranks}); {call_log_loss}"),
    "before update": mark(
        "no loss was seen before the first update in run {run} ({ranks}); call"
        " reprocheck.log_loss(loss) from the first iteration on"
    ),
    "change": mark(
        "{unchanged} ({ranks}), so nothing is known of the"
        " backward pass; look at the learning rate and at what is frozen, or {remedy}"
    ),
    "other weights": mark(
        "the weights did not change in the {recorded} recorded iterations of run {run}"
        " ({ranks}), so the backward pass was not tested; {remedy}"
    ),
    "behind a change": mark(
        "no loss was seen after an update that changed the weights in the {recorded} recorded"
        " iterations of run {run} ({ranks}), so the backward pass was not tested; {remedy}"
    ),
    "behind first change": mark(
        "no loss was seen after the first update that changed the weights in run {run} ({ranks});"
        " {call_log_loss}"
    ),
}
"""What a run lacks that a check needs."""


@say.register
def rank_of_one_run(rank: RankOfOneRun) -> str:
    """Say which run has a rank, and which has not."""
    if rank.recorded == 1:
        return tr(
            "rank {rank} was recorded in run 1 and not in run {run}",
            rank=rank.rank,
            run=rank.lacking,
        )
    return tr(
        "rank {rank} was recorded in run {run} and not in run 1", rank=rank.rank, run=rank.recorded
    )


@say.register
def without_partner(loss: WithoutPartner) -> str:
    """Say why a loss has no partner: one run is longer, or holds more losses in an iteration."""
    if loss.of == "iterations":
        lengths = tr(
            "{other} against {iterations}",
            other=loss.reference,
            iterations=count(loss.own, "iteration"),
        )
        if loss.run > 2:
            lengths += tr(" of run {run}", run=loss.run)
        return tr("one run is longer: {lengths}", lengths=lengths)
    own = tr(
        "iteration {iteration} holds {losses} in run {run}",
        iteration=loss.iteration,
        losses=count(loss.own, "loss", "losses"),
        run=loss.run,
    )
    return tr("{said} and {expected} in run 1", said=own, expected=loss.reference)


@say.register
def other_number(losses: OtherNumber) -> str:
    """Say that the losses of an iteration cannot be paired."""
    text = tr(
        "iteration {iteration} holds {losses}{where} in run 1 and {number}"
        " in run {run} ({ranks}), so they cannot be paired; make the number of backward"
        " passes an iteration the same in every run",
        iteration=losses.iteration,
        losses=count(losses.reference, "loss", "losses"),
        where=tr(" before the first update") if losses.before_update else "",
        number=losses.number,
        run=losses.run,
        ranks=RANKS,
    )
    return of_ranks(text, losses.ranks)


@say.register
def too_few(iterations: TooFew) -> str:
    """Say that a check needs more iterations, and how to come to them."""
    needed = iterations.iteration
    record = tr("record more with --steps {iteration} or higher", iteration=needed)
    text = tr(
        "run {run} recorded {iterations} ({ranks}), and the check needs iteration {iteration};"
        " {remedy}",
        run=iterations.run,
        iterations=count(iterations.recorded, "iteration"),
        ranks=RANKS,
        iteration=needed,
        remedy=_longer(record, stopped=iterations.stopped),
    )
    return of_ranks(text, iterations.ranks)


def _longer(record: str, *, stopped: bool) -> str:
    """Return what to do where more iterations are needed: to `record` them if there were any."""
    if stopped:
        return record
    return tr("train for more iterations")


@say.register
def nothing_to_check(run: NothingToCheck) -> str:
    """Say why a check finds no loss, and what to do."""
    record = tr("record more than {recorded} iterations with --steps", recorded=run.recorded)
    unchanged = form(
        run.unchanged,
        "the one recorded update of run {run} did not change the weights",
        "none of the {updates} recorded updates of run {run} changed the weights",
        updates=run.unchanged,
        run=run.run,
    )
    text = tr(
        _LACKS[run.lacks],
        run=run.run,
        recorded=run.recorded,
        updates=count(run.recorded, "update"),
        unchanged=unchanged,
        ranks=RANKS,
        remedy=_longer(record, stopped=run.stopped),
        call_log_loss=tr(CALL_LOG_LOSS),
    )
    return of_ranks(text, run.ranks)


@say.register
def neither_finite(loss: NeitherFinite) -> str:
    """Say why two losses that are both not finite cannot be compared."""
    own, other = (
        "NaN" if isnan(value) else tr("infinite") for value in (loss.value, loss.reference)
    )
    both = tr("{other} in run 1 and {own} in run {run}", other=other, own=own, run=loss.run)
    if own == other:
        both = tr("{own} in both runs", own=own)
    return tr(
        "the loss of iteration {iteration} is {both}, and losses that are not finite cannot be"
        " compared; first find where it stops being finite",
        iteration=loss.iteration,
        both=both,
    )
