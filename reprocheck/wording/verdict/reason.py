"""The reason of a verdict: one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from operator import attrgetter

from reprocheck.language import form, mark, tr
from reprocheck.language.letters import capital
from reprocheck.language.ranks import named
from reprocheck.model import (
    MIRRORS_RULE,
    SERIES_RULE,
    Comparison,
    Divergence,
    SeriesComparison,
    Verdict,
)
from reprocheck.model.statements import verdict as statements
from reprocheck.wording.say import in_english, say
from reprocheck.wording.verdict.numbers import pair, sizes, where
from reprocheck.wording.verdict.rows import CALL_LOG_LOSS

_NOT_COMPARED = {
    "interrupted": mark("run {number} was interrupted before both checks could be made"),
    "broken": mark(
        "the recording of run {number} breaks off before both checks could be made: {why}"
    ),
    "no process": mark(
        "no process of run {number} reported, so the recorder was not loaded; start the"
        " interpreter without -I, -E and -S, and extend PYTHONPATH rather than replace it"
    ),
    "no number": mark(
        "run {number} called reprocheck.log_loss with what is no number ({error}); give it the"
        " loss of the iteration alone: a number or a tensor"
    ),
    "no framework": mark(
        "no loss was seen in run {number}, which imported no supported framework; {call_log_loss}"
    ),
    "no loss": mark(
        "no loss was seen in run {number}, which imported {names}; train the model, or"
        " {call_log_loss}"
    ),
    "one run": mark(
        "only one run was recorded, and a check needs two; `reprocheck compare` takes it and"
        " another recording"
    ),
}


def reason(verdict: Verdict) -> str:
    """Say why the verdict is what it is, and which rule of `--fail-on` would make a pass fail."""
    sentence = say(verdict.because or "")
    if verdict.broken_rule:
        broken = _broken(verdict, verdict.broken_rule)
        sentence += tr(
            "; exit code 1 by --fail-on {rule}: {said}", rule=verdict.broken_rule, said=broken
        )
    return tr("{sentence}.", sentence=capital(sentence))


def _broken(verdict: Verdict, rule: str) -> str:
    """Say what violates a rule of `--fail-on`."""
    if rule == MIRRORS_RULE:
        return in_english(verdict.mirrors.faults[0]).removesuffix(".")
    if not rule.startswith(SERIES_RULE):
        iteration = verdict.bitwise.first_iteration
        if rule == "any-iteration":
            iteration = verdict.diverges_from
        return tr("the runs differ in iteration {iteration}", iteration=iteration)
    name = rule.removeprefix(SERIES_RULE)
    place = next((row.first_outside for row in verdict.series if row.name == name), None)
    if place is None:
        reported = ", ".join(row.name for row in verdict.series) or "none"
        return tr("no run reported {name} (reported: {reported})", name=name, reported=reported)
    return tr(
        "{name} differs from {where} ({sizes})", name=name, where=where(place), sizes=sizes(place)
    )


@say.register
def losses_differ(differ: statements.LossesDiffer) -> str:
    """Say which check fails, and at which loss the difference is largest."""
    when = tr("before the first update of the weights")
    if differ.row.kind == "backward":
        when = tr("after an update of the weights")
    if differ.forward_agrees:
        when = tr("the forward check agrees and {when}", when=when)
    difference = _difference(differ.row, differ.ranks)
    return tr("{when} the losses differ: {difference}", when=when, difference=difference)


def _difference(row: Comparison, ranks: int) -> str:
    """Return the two losses, their difference and the allowed difference."""
    detail = in_english(row.why or "")
    if row.value is None or row.reference is None:
        return detail
    place = _place(row, ranks)
    value, reference = pair(row.value, row.reference)
    losses = tr(
        "run {run} has loss {value} where run 1 has {reference}",
        run=row.run,
        value=value,
        reference=reference,
    )
    if value == reference and detail:
        losses = detail
    if row.max_difference is None:
        apart = tr("finite in one run only")
        if all(map(isfinite, (row.value, row.reference))):
            apart = tr("too far apart for a number")
        return tr("in {place}, {sizes}: {apart}", place=place, sizes=losses, apart=apart)
    return tr(
        "in {place}, {sizes}, a difference of {max_difference:.3g} where {allowed:.3g} is allowed",
        place=place,
        sizes=losses,
        max_difference=row.max_difference,
        allowed=row.limit,
    )


def _place(row: Comparison, ranks: int) -> str:
    """Return `iteration 2`, with the loss and the rank if there are several."""
    place = tr("iteration {iteration}", iteration=row.iteration)
    if row.loss_index:
        place += tr(", loss {loss_index}", loss_index=row.loss_index + 1)
    if ranks > 1:
        place += tr(", rank {rank}", rank=row.rank)
    return place


@say.register
def not_compared(nothing: statements.NotCompared) -> str:
    """Say why no losses can be compared, and what to do."""
    return tr(
        _NOT_COMPARED[nothing.why],
        number=nothing.run,
        why=in_english(nothing.says),
        error=in_english(nothing.says),
        names=" and ".join(nothing.frameworks),
        call_log_loss=tr(CALL_LOG_LOSS),
    )


@say.register
def not_made(check: statements.NotMade) -> str:
    """Say which check could not be made, and why."""
    kind, detail = tr(check.kind), say(check.why)
    return tr("the {kind} check could not be made: {detail}", kind=kind, detail=detail)


@say.register
def silent_ranks(silent: statements.SilentRanks) -> str:
    """Say which ranks never reported."""
    return form(
        len(silent.ranks),
        "{named} of {world} reported no loss and no update in run {number}, so nothing is known of"
        " what it does",
        "{named} of {world} reported no loss and no update in run {number}, so nothing is known of"
        " what they do",
        named=named(silent.ranks),
        world=silent.world,
        number=silent.run,
    )


@say.register
def agreement(agrees: statements.Agreement) -> str:
    """Say how well the runs agree, and the series that were reported beside the losses."""
    return _losses_agree(agrees) + _series_agree(agrees.series)


def _losses_agree(agrees: statements.Agreement) -> str:
    seen = form(
        agrees.iterations,
        "{runs} runs of {iterations:,} iteration",
        "{runs} runs of {iterations:,} iterations",
        runs=agrees.runs,
        iterations=agrees.iterations,
    )
    if agrees.ranks > 1:
        seen = tr("{seen} on {ranks} ranks", seen=seen, ranks=agrees.ranks)
    if agrees.divergence is not None:
        later = _later(agrees.divergence)
        return tr("both checks pass in {seen}, and {later}", seen=seen, later=later)
    if agrees.bitwise.equal and any(row.unequal for row in agrees.series):
        return tr("all losses are equal in every bit in {seen}", seen=seen)
    if agrees.bitwise.equal:
        return tr("no difference was seen in {seen}: all losses are equal in every bit", seen=seen)
    return tr(
        "the losses of iterations 1 and {backward} agree within the tolerance in {seen};"
        " {largest}, and from iteration {first_iteration} on the losses are not"
        " equal in every bit",
        backward=agrees.backward,
        seen=seen,
        largest=_largest(agrees.largest),
        first_iteration=agrees.bitwise.first_iteration,
    )


def _later(divergence: Divergence) -> str:
    """Say at which loss runs diverge whose checks pass: the first outside the tolerance."""
    if divergence.value is None or divergence.reference is None:
        return tr("then the runs diverge: {detail}", detail=in_english(divergence.why or ""))
    value, reference = pair(divergence.value, divergence.reference)
    return tr(
        "from iteration {iteration} on the runs diverge: run {run} has loss"
        " {value} where run 1 has {reference}",
        iteration=divergence.iteration,
        run=divergence.run,
        value=value,
        reference=reference,
    )


def _largest(row: Comparison) -> str:
    allowed = tr(", and any difference is allowed")
    if row.limit != inf:
        allowed = tr(" where {allowed:.3g} is allowed", allowed=row.limit)
    return tr(
        "the largest difference is {difference:.3g} in iteration {iteration}{allowed}",
        difference=row.max_difference or 0.0,
        iteration=row.iteration,
        allowed=allowed,
    )


def _series_agree(series: Sequence[SeriesComparison]) -> str:
    """Say, for a pass, that the reported series agree; "" if none were reported."""
    compared = sum(row.compared for row in series)
    # those beyond the tolerance first
    differing = sorted(filter(attrgetter("unequal"), series), key=attrgetter("state"))
    if not compared:
        return ""
    if not differing:
        return form(
            compared,
            "; {compared} series beside them agrees in every bit, too",
            "; {compared} series beside them agree in every bit, too",
            compared=compared,
        )
    first = differing[0]
    place = first.first_unequal
    assert place is not None, "chosen by it"
    how = tr("within the tolerance")
    if first.state == "differs":
        how = tr("beyond the tolerance")
    differ = form(
        len(differing),
        "{differing} of {compared} series beside them differs",
        "{differing} of {compared} series beside them differ",
        differing=len(differing),
        compared=compared,
    )
    return tr(
        "; {said}: {name} {how} from {where} on ({sizes})",
        said=differ,
        name=first.name,
        how=how,
        where=where(place),
        sizes=sizes(place),
    )
