"""Why a check could not be made, and what is said beside the two losses of a row."""

from __future__ import annotations

from math import isnan

from reprocheck.language import count, form, mark, tr
from reprocheck.model.statements import verdict as statements
from reprocheck.wording.say import say
from reprocheck.wording.verdict.numbers import in_brackets

CALL_LOG_LOSS = mark("call reprocheck.log_loss(loss) in every iteration")
_TRAIN = mark("train for more iterations")
_LACKS = {
    "any": mark("run {run} made {updates} and no loss was seen{ranks}; {call_log_loss}"),
    "before update": mark(
        "no loss was seen before the first update in run {run}{ranks}; call"
        " reprocheck.log_loss(loss) from the first iteration on"
    ),
    "change": mark(
        "{unchanged}{ranks}, so nothing is known of the"
        " backward pass; look at the learning rate and at what is frozen, or {remedy}"
    ),
    "other weights": mark(
        "the weights did not change in the {recorded} recorded iterations of run {run}"
        "{ranks}, so the backward pass was not tested; {remedy}"
    ),
    "behind a change": mark(
        "no loss was seen after an update that changed the weights in the {recorded} recorded"
        " iterations of run {run}{ranks}, so the backward pass was not tested; {remedy}"
    ),
    "behind first change": mark(
        "no loss was seen after the first update that changed the weights in run {run}{ranks};"
        " {call_log_loss}"
    ),
}
"""What a run lacks that a check needs."""


@say.register
def rank_of_one_run(rank: statements.RankOfOneRun) -> str:
    """Say which run has a rank, and which has not."""
    if rank.recorded == 1:
        return f"rank {rank.rank} was recorded in run 1 and not in run {rank.lacking}"
    return f"rank {rank.rank} was recorded in run {rank.recorded} and not in run 1"


@say.register
def without_partner(loss: statements.WithoutPartner) -> str:
    """Say why a loss has no partner: one run is longer, or holds more losses in an iteration."""
    if loss.of == "iterations":
        lengths = f"{loss.reference} against {count(loss.own, 'iteration')}"
        if loss.run > 2:
            lengths += f" of run {loss.run}"
        return f"one run is longer: {lengths}"
    losses = count(loss.own, "loss", "losses")
    return (
        f"iteration {loss.iteration} holds {losses} in run {loss.run} and {loss.reference} in run 1"
    )


@say.register
def other_number(losses: statements.OtherNumber) -> str:
    """Say that the losses of an iteration cannot be paired."""
    number = count(losses.reference, "loss", "losses")
    where = " before the first update" if losses.before_update else ""
    return (
        f"iteration {losses.iteration} holds {number}{where} in run 1 and {losses.number} in run"
        f" {losses.run}{in_brackets(losses.ranks)}, so they cannot be paired; make the number of"
        " backward passes an iteration the same in every run"
    )


@say.register
def too_few(iterations: statements.TooFew) -> str:
    """Say that a check needs more iterations, and how to get them."""
    needed = iterations.iteration
    remedy = tr(_TRAIN)
    if iterations.stopped:
        remedy = tr("record more with --steps {iteration} or higher", iteration=needed)
    return form(
        iterations.recorded,
        "run {run} recorded {recorded:,} iteration{ranks}, and the check needs iteration"
        " {iteration}; {remedy}",
        "run {run} recorded {recorded:,} iterations{ranks}, and the check needs iteration"
        " {iteration}; {remedy}",
        run=iterations.run,
        recorded=iterations.recorded,
        ranks=in_brackets(iterations.ranks),
        iteration=needed,
        remedy=remedy,
    )


@say.register
def nothing_to_check(run: statements.NothingToCheck) -> str:
    """Say why a check finds no loss, and what to do."""
    remedy = tr(_TRAIN)
    if run.stopped:
        remedy = tr("record more than {recorded} iterations with --steps", recorded=run.recorded)
    unchanged = form(
        run.unchanged,
        "the one recorded update of run {run} did not change the weights",
        "none of the {updates} recorded updates of run {run} changed the weights",
        updates=run.unchanged,
        run=run.run,
    )
    return tr(
        _LACKS[run.lacks],
        run=run.run,
        recorded=run.recorded,
        updates=count(run.recorded, "update"),
        unchanged=unchanged,
        ranks=in_brackets(run.ranks),
        remedy=remedy,
        call_log_loss=tr(CALL_LOG_LOSS),
    )


@say.register
def neither_finite(loss: statements.NeitherFinite) -> str:
    """Say why two losses that are both not finite cannot be compared."""
    value, reference = (
        "NaN" if isnan(value) else "infinite" for value in (loss.value, loss.reference)
    )
    both = f"{reference} in run 1 and {value} in run {loss.run}"
    if value == reference:
        both = f"{value} in both runs"
    return (
        f"the loss of iteration {loss.iteration} is {both}, and losses that are not"
        " finite cannot be compared; first find where it stops being finite"
    )


@say.register
def beyond_doubles(losses: statements.BeyondDoubles) -> str:
    """Say two losses in full that no double tells apart."""
    return f"run {losses.run} has loss {losses.shown} where run 1 has {losses.other}"


@say.register
def other_dtype(loss: statements.OtherDtype) -> str:
    """Say which dtypes a loss has."""
    return f"{loss.dtype} in run {loss.run}, {loss.reference_dtype} in run 1"


@say.register
def rank_in_one_run_only(rank: statements.RankInOneRunOnly) -> str:
    """Say which of the two runs has a rank that the other lacks."""
    return f"rank {rank.rank} was recorded in run {rank.run} only"


@say.register
def never_together(ranks: statements.NeverTogether) -> str:
    """Say why a rank had not begun to train when another one ended."""
    return (
        f"in run {ranks.run} rank {ranks.late} had been started and had not begun to train when"
        f" reprocheck ended rank {ranks.stopped} at its stop, so they were never seen at the same"
        " time; --steps all lets each come to its own end"
    )
