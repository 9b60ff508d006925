"""The backward pass and the update in words."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.ladder import words
from reprocheck.ladder.sentences.said import Said
from reprocheck.language import mark, tr
from reprocheck.model.evidence import (
    ChangedAfterBackward,
    ReducedDiffers,
    UpdateDiffers,
    WeightWritten,
)
from reprocheck.model.letters import capital, clause
from reprocheck.trace.deep import Seen


def output_gradient(
    seen: Seen,
    between: Sequence[Seen],
    nodes: Sequence[str],
    *,
    anchor: Seen | None,
    loss_agrees: bool,
) -> Said:
    """Return the gradient of the output of a module that differs; `between`: the calls that it came
    through, `nodes`: the operations in their place where there are none, `anchor`: the last call
    whose gradient agrees.
    """
    name = words.module(seen.place)
    top = tr("the loss")
    if anchor is not None:
        top = words.module(anchor.place)
    stretch = tr("between {top} (agrees) and {name}", top=top, name=name)
    of = culprit = tr(
        "what lies between {name} and {top}{in_brackets}",
        name=name,
        top=top,
        in_brackets=_in_brackets(nodes),
    )
    if between:
        of = words.listed([words.module(call.place, call.class_) for call in between])
        culprit = words.named([call.place for call in between])
    head = tr(
        "{up_to_loss} the first gradient that differs is that of the output of {name}, {stretch}",
        up_to_loss=up_to_loss(seen.iteration, agrees=loss_agrees),
        name=name,
        stretch=stretch,
    )
    return Said(
        culprit=tr("the backward of {culprit}", culprit=culprit),
        detail=tr(
            "The gradient of the output of {name} is the first that differs; {stretch}: the"
            " backward of {of}.",
            name=name,
            stretch=stretch,
            of=of,
        ),
        head=head,
        sentence=tr("{head}: look at the backward of {of}", head=head, of=of),
    )


def own_gradient(seen: Seen, module: Seen, *, loss_agrees: bool) -> Said:
    """Return the gradient of a parameter that differs, where that of its module's output agrees."""
    name, owner = words.code(seen.place), words.module(module.place, module.class_)
    culprit = tr("the backward of {owner} or a hook on {name}", owner=owner, name=name)
    detail = tr(
        "The gradient of the output of {owner} agrees, that of its parameter {name} differs:"
        " {culprit}.",
        owner=owner,
        name=name,
        culprit=culprit,
    )
    return _of_parameter(seen, culprit, detail, loss_agrees=loss_agrees)


def gradient(seen: Seen, nodes: Sequence[str], agrees: Seen | None, *, loss_agrees: bool) -> Said:
    """Return the gradient of a parameter that differs; `agrees`: the last gradient before it,
    `nodes`: the operations between.
    """
    name = words.code(seen.place)
    culprit = tr(
        "the backward of what lies between {name} and the loss{in_brackets}",
        name=name,
        in_brackets=_in_brackets(nodes),
    )
    detail = tr(
        "The gradient of {name} is the first that differs; {before} agrees: {culprit}.",
        name=name,
        before=_gradient_before(agrees),
        culprit=culprit,
    )
    return _of_parameter(seen, culprit, detail, loss_agrees=loss_agrees)


def _of_parameter(seen: Seen, culprit: str, detail: str, *, loss_agrees: bool) -> Said:
    head = tr(
        "{up_to_loss} the first gradient that differs is that of {place}",
        up_to_loss=up_to_loss(seen.iteration, agrees=loss_agrees),
        place=words.code(seen.place),
    )
    return Said(
        culprit=culprit,
        detail=detail,
        head=head,
        sentence=tr("{head}: look at {culprit}", head=head, culprit=culprit),
    )


def _gradient_before(agrees: Seen | None) -> str:
    if agrees is None:
        return tr("the loss")
    name = words.code(agrees.place)
    if agrees.kind == "outgrad":
        name = words.module(agrees.place)
    return tr("that of {name}", name=name)


def _in_brackets(nodes: Sequence[str]) -> str:
    if not nodes:
        return ""
    return tr(" ({listed})", listed=words.listed(nodes))


def update(evidence: UpdateDiffers, place: str, iteration: int) -> Said:
    """Return a weight that differs after an update."""
    name = words.code(place)
    culprit, why = None, tr("what went into the update differs already")
    if evidence.inputs_agree and evidence.optimizer:
        culprit = tr("the update by {optimizer}", optimizer=evidence.optimizer)
        why = tr("gradients and hyper-parameters agree: {culprit}", culprit=culprit)
    elif evidence.inputs_agree:
        culprit = tr("the update, or what writes to the weights beside it")
        why = tr("gradients agree: {culprit}", culprit=culprit)
    head = tr("{within} {name} differs after the update", within=words.within(iteration), name=name)
    return Said(
        culprit=culprit,
        detail=tr(
            "{name} differs after the update of iteration {iteration}; {why}.",
            name=name,
            iteration=iteration,
            why=why,
        ),
        head=head,
        sentence=tr("{head}; {why}", head=head, why=why),
    )


_AFTER_UPDATE = {
    "agrees": mark("agrees after the update"),
    "differs": mark("differs already after the update"),
    "no update": mark("is held by no optimizer"),
}


def written(evidence: WeightWritten, place: str, iteration: int) -> Said:
    """Return a weight that something beside the optimizer wrote to."""
    name = words.code(place)
    culprit, look = None, ""
    if evidence.after_update != "differs":
        culprit = tr(
            "what writes to {name} after the update (noise, clipping, averaging, a copy into it)",
            name=name,
        )
        look = tr(": look at {culprit}", culprit=culprit)
    what = tr("is written to and differs")
    if evidence.only_in_one_run:
        what = tr("only one run writes to it")
    told = tr(
        "{name} {after_update}, and {what} before the next forward pass",
        name=name,
        after_update=tr(_AFTER_UPDATE[evidence.after_update]),
        what=what,
    )
    head = tr("{within} {told}", within=words.within(iteration), told=told)
    return Said(
        culprit=culprit,
        detail=tr("{sentence}.", sentence=told + look),
        head=head,
        sentence=head + look,
    )


def changed_afterwards(evidence: ChangedAfterBackward, place: str, iteration: int) -> Said:
    """Return a gradient of one rank that differs only at the update."""
    name = words.code(place)
    culprit = tr(
        "what changes the gradient of {name} between the backward pass and the update (clipping,"
        " noise, unscaling)",
        name=name,
    )
    agrees = tr("was not recorded in the backward pass")
    if evidence.agreed_before:
        agrees = tr("agrees as the backward pass left it")
    told = tr("the gradient of {name} {agrees} and differs at the update", name=name, agrees=agrees)
    lead = up_to_loss(iteration, agrees=evidence.loss_agrees)
    head = tr("{lead} {told}", lead=lead, told=told)
    return Said(
        culprit=culprit,
        detail=tr("{told}: {culprit}.", told=capital(told), culprit=culprit),
        head=head,
        sentence=tr("{head}: look at {culprit}", head=head, culprit=culprit),
    )


def reduced(evidence: ReducedDiffers, place: str, iteration: int) -> Said:
    """Return a gradient that differs after it was reduced between ranks."""
    culprit, detail = _of_ranks(evidence, words.code(place))
    lead = up_to_loss(iteration, agrees=evidence.loss_agrees)
    head = tr("{lead} {told}", lead=lead, told=clause(detail))
    return Said(culprit=culprit, detail=detail, head=head, sentence=head)


_NOT_ONE_SUM = {
    (False, True): mark("run 1"),
    (True, False): mark("run 2"),
    (False, False): mark("both runs"),
}
"""Whether all ranks hold one sum in run 1, and in run 2 -> where they do not."""


def _of_ranks(evidence: ReducedDiffers, name: str) -> tuple[str | None, str]:
    """Return what made the difference, and the detail."""
    if evidence.local_equal is False:
        return None, tr(
            "The reduced gradient of {name} differs, and so do local gradients before it.",
            name=name,
        )
    if evidence.local_equal is None:
        culprit = tr(
            "the backward pass or the reduction of gradients between ranks: local gradients were"
            " not recorded"
        )
        return culprit, tr(
            "The reduced gradient of {name} is the first that differs; it was made by {culprit}.",
            name=name,
            culprit=culprit,
        )
    differs = tr("The local gradients agree, the reduced gradient of {name} differs", name=name)
    if evidence.one_sum is None:
        culprit = tr(
            "the reduction of gradients between ranks (or what changes them before the update)"
        )
        return culprit, tr("{differs}: {culprit}.", differs=differs, culprit=culprit)
    if all(evidence.one_sum):
        culprit = tr("the collective that reduces the gradients of the ranks")
        return culprit, tr(
            "{differs}; in each run all ranks hold the same sum, and the sums of the runs differ:"
            " {culprit}.",
            differs=differs,
            culprit=culprit,
        )
    culprit = tr(
        "what changes gradients on a rank by itself, in a communication hook or after the reduction"
    )
    return culprit, tr(
        "{differs}; in {run} the ranks do not hold the same sum: {culprit}.",
        differs=differs,
        run=tr(_NOT_ONE_SUM[evidence.one_sum]),
        culprit=culprit,
    )


def up_to_loss(iteration: int, *, agrees: bool) -> str:
    """Return how a sentence on a gradient begins."""
    within = words.within(iteration)
    if not agrees:
        return within
    return tr("{within} everything up to the loss agrees;", within=within)
