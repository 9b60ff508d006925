"""The backward pass and the update in words."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.language import mark, shortlist, tr
from reprocheck.language.letters import capital, clause
from reprocheck.model.evidence import (
    ChangedAfterBackward,
    ReducedDiffers,
    UpdateDiffers,
    WeightWritten,
)
from reprocheck.model.statements.difference import Fact
from reprocheck.model.statements.training import BehindBackward, OutputGradient, ParameterGradient
from reprocheck.wording.ladder import terms
from reprocheck.wording.ladder.terms import Said, said_of


@said_of.register
def output_gradient(differs: OutputGradient) -> Said:
    """Say that the gradient of the output of a module differs."""
    name, between = terms.module(differs.gradient.place), differs.between
    top = tr("the loss")
    if differs.anchor is not None:
        top = terms.module(differs.anchor.place)
    stretch = tr("between {top} (agrees) and {name}", top=top, name=name)
    of = culprit = tr(
        "what lies between {name} and {top}{in_brackets}",
        name=name,
        top=top,
        in_brackets=_in_brackets(differs.nodes),
    )
    if between:
        of = shortlist([terms.module(call.place, call.class_) for call in between])
        culprit = terms.named([call.place for call in between])
    head = tr(
        "{up_to_loss} the first gradient that differs is that of the output of {name}, {stretch}",
        up_to_loss=up_to_loss(differs.gradient.iteration, agrees=differs.loss_agrees),
        name=name,
        stretch=stretch,
    )
    return Said(
        culprit=f"the backward of {culprit}",
        detail=(
            f"The gradient of the output of {name} is the first that differs; {stretch}: the"
            f" backward of {of}."
        ),
        head=head,
        sentence=tr("{head}: look at the backward of {of}", head=head, of=of),
    )


@said_of.register
def parameter_gradient(differs: ParameterGradient) -> Said:
    """Say that the gradient of a parameter of the model differs."""
    name = terms.code(differs.gradient.place)
    culprit, detail = _own(name, differs.module) if differs.module else _of_graph(name, differs)
    head = tr(
        "{up_to_loss} the first gradient that differs is that of {place}",
        up_to_loss=up_to_loss(differs.gradient.iteration, agrees=differs.loss_agrees),
        place=name,
    )
    return Said(
        culprit=culprit,
        detail=detail,
        head=head,
        sentence=tr("{head}: look at {culprit}", head=head, culprit=culprit),
    )


def _own(name: str, module: Fact) -> tuple[str, str]:
    """Return the culprit and the detail, if the gradient of the module's output agrees."""
    owner = terms.module(module.place, module.class_)
    culprit = tr("the backward of {owner} or a hook on {name}", owner=owner, name=name)
    detail = (
        f"The gradient of the output of {owner} agrees, that of its parameter {name}"
        f" differs: {culprit}."
    )
    return culprit, detail


def _of_graph(name: str, differs: ParameterGradient) -> tuple[str, str]:
    """Return the culprit and the detail, if nothing is known of the module."""
    culprit = tr(
        "the backward of what lies between {name} and the loss{in_brackets}",
        name=name,
        in_brackets=_in_brackets(differs.nodes),
    )
    detail = (
        f"The gradient of {name} is the first that differs;"
        f" {_gradient_before(differs.before)} agrees: {culprit}."
    )
    return culprit, detail


def _gradient_before(agrees: Fact | None) -> str:
    if agrees is None:
        return "the loss"
    name = terms.code(agrees.place)
    if agrees.kind == "outgrad":
        name = terms.module(agrees.place)
    return f"that of {name}"


def _in_brackets(nodes: Sequence[str]) -> str:
    if not nodes:
        return ""
    return f" ({shortlist(nodes)})"


@said_of.register
def behind_backward(differs: BehindBackward) -> Said:
    """Say that a gradient or a weight differs behind the backward pass."""
    name, iteration = terms.code(differs.place), differs.iteration
    match differs.evidence:
        case UpdateDiffers() as evidence:
            return _update(evidence, name, iteration)
        case WeightWritten() as evidence:
            return _written(evidence, name, iteration)
        case ChangedAfterBackward() as evidence:
            return _changed_afterwards(evidence, name, iteration)
        case ReducedDiffers() as evidence:
            return _reduced(evidence, name, iteration)


def _update(evidence: UpdateDiffers, name: str, iteration: int) -> Said:
    """Return a weight that differs after an update."""
    culprit, why = None, tr("what went into the update differs already")
    if evidence.inputs_agree and evidence.optimizer:
        culprit = tr("the update by {optimizer}", optimizer=evidence.optimizer)
        why = tr("gradients and hyper-parameters agree: {culprit}", culprit=culprit)
    elif evidence.inputs_agree:
        culprit = tr("the update, or what writes to the weights beside it")
        why = tr("gradients agree: {culprit}", culprit=culprit)
    head = tr("{within} {name} differs after the update", within=terms.within(iteration), name=name)
    return Said(
        culprit=culprit,
        detail=f"{name} differs after the update of iteration {iteration}; {why}.",
        head=head,
        sentence=tr("{head}; {why}", head=head, why=why),
    )


_AFTER_UPDATE = {
    "agrees": mark("agrees after the update"),
    "differs": mark("differs already after the update"),
    "no update": mark("is held by no optimizer"),
}


def _written(evidence: WeightWritten, name: str, iteration: int) -> Said:
    """Describe a weight that something other than the optimizer wrote to."""
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
    head = tr("{within} {told}", within=terms.within(iteration), told=told)
    return Said(
        culprit=culprit,
        detail=told + look + ".",
        head=head,
        sentence=head + look,
    )


def _changed_afterwards(evidence: ChangedAfterBackward, name: str, iteration: int) -> Said:
    """Describe a gradient of one rank that differs only at the update."""
    culprit = tr(
        "what changes the gradient of {name} between the backward pass and the update"
        " (clipping, noise, unscaling)",
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
        detail=f"{capital(told)}: {culprit}.",
        head=head,
        sentence=tr("{head}: look at {culprit}", head=head, culprit=culprit),
    )


def _reduced(evidence: ReducedDiffers, name: str, iteration: int) -> Said:
    """Describe a gradient that differs after the reduction between ranks."""
    culprit, detail = _of_ranks(evidence, name)
    lead = up_to_loss(iteration, agrees=evidence.loss_agrees)
    head = tr("{lead} {told}", lead=lead, told=clause(detail))
    return Said(culprit=culprit, detail=detail, head=head, sentence=head)


_NOT_ONE_SUM = {
    (False, True): "run 1",
    (True, False): "run 2",
    (False, False): "both runs",
}
"""Whether all ranks hold one sum in run 1, and in run 2 -> where they do not."""


def _of_ranks(evidence: ReducedDiffers, name: str) -> tuple[str | None, str]:
    """Return the culprit and the detail of a gradient of several ranks."""
    if evidence.local_equal is False:
        return None, (
            f"The reduced gradient of {name} differs, and so do local gradients before it."
        )
    if evidence.local_equal is None:
        culprit = (
            "the backward pass or the reduction of gradients between ranks: local gradients"
            " were not recorded"
        )
        return culprit, (
            f"The reduced gradient of {name} is the first that differs; it was made by {culprit}."
        )
    differs = f"The local gradients agree, the reduced gradient of {name} differs"
    if evidence.one_sum is None:
        culprit = (
            "the reduction of gradients between ranks (or what changes them before the update)"
        )
        return culprit, f"{differs}: {culprit}."
    if all(evidence.one_sum):
        culprit = "the collective that reduces the gradients of the ranks"
        return culprit, (
            f"{differs}; in each run all ranks hold the same sum, and the sums of the runs"
            f" differ: {culprit}."
        )
    culprit = (
        "what changes gradients on a rank by itself, in a communication hook or after the reduction"
    )
    return culprit, (
        f"{differs}; in {_NOT_ONE_SUM[evidence.one_sum]} the ranks do not hold the same"
        f" sum: {culprit}."
    )


def up_to_loss(iteration: int, *, agrees: bool) -> str:
    """Return how a sentence on a gradient begins."""
    within = terms.within(iteration)
    if not agrees:
        return within
    return tr("{within} everything up to the loss agrees;", within=within)
