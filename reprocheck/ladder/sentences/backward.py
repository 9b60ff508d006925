"""The backward pass and the update in words."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.ladder import words
from reprocheck.ladder.sentences.said import Said
from reprocheck.model.evidence import (
    ChangedAfterBackward,
    ReducedDiffers,
    UpdateDiffers,
    WeightWritten,
)
from reprocheck.model.letters import capital, small
from reprocheck.trace.deep import Seen


def output_gradient(
    seen: Seen,
    between: Sequence[Seen],
    nodes: Sequence[str],
    *,
    anchor: Seen | None,
    loss_agrees: bool,
) -> Said:
    """The gradient of the output of a module that differs; `between`: the calls that it came
    through, `nodes`: the operations in their place where there are none, `anchor`: the last call
    whose gradient agrees.
    """
    name = words.module(seen.place)
    top = "the loss"
    if anchor is not None:
        top = words.module(anchor.place)
    stretch = f"between {top} (agrees) and {name}"
    of = culprit = f"what lies between {name} and {top}{_in_brackets(nodes)}"
    if between:
        of = words.listed([words.module(call.place, call.class_) for call in between])
        culprit = words.named([call.place for call in between])
    head = (
        f"{up_to_loss(seen.iteration, agrees=loss_agrees)} the first gradient that differs is that"
        f" of the output of {name}, {stretch}"
    )
    return Said(
        culprit=f"the backward of {culprit}",
        detail=(
            f"The gradient of the output of {name} is the first that differs; {stretch}: the"
            f" backward of {of}."
        ),
        head=head,
        sentence=f"{head}: look at the backward of {of}",
    )


def own_gradient(seen: Seen, module: Seen, *, loss_agrees: bool) -> Said:
    """The gradient of a parameter that differs, where that of its module's output agrees."""
    name, owner = words.code(seen.place), words.module(module.place, module.class_)
    culprit = f"the backward of {owner} or a hook on {name}"
    detail = (
        f"The gradient of the output of {owner} agrees, that of its parameter {name} differs:"
        f" {culprit}."
    )
    return _of_parameter(seen, culprit, detail, loss_agrees=loss_agrees)


def gradient(seen: Seen, nodes: Sequence[str], agrees: Seen | None, *, loss_agrees: bool) -> Said:
    """The gradient of a parameter that differs; `agrees`: the last gradient before it, `nodes`: the
    operations between.
    """
    name = words.code(seen.place)
    culprit = f"the backward of what lies between {name} and the loss{_in_brackets(nodes)}"
    before = _gradient_before(agrees)
    detail = f"The gradient of {name} is the first that differs; {before} agrees: {culprit}."
    return _of_parameter(seen, culprit, detail, loss_agrees=loss_agrees)


def _of_parameter(seen: Seen, culprit: str, detail: str, *, loss_agrees: bool) -> Said:
    head = (
        f"{up_to_loss(seen.iteration, agrees=loss_agrees)} the first gradient that differs is that"
        f" of {words.code(seen.place)}"
    )
    return Said(culprit=culprit, detail=detail, head=head, sentence=f"{head}: look at {culprit}")


def _gradient_before(agrees: Seen | None) -> str:
    if agrees is None:
        return "the loss"
    if agrees.kind == "outgrad":
        return f"that of {words.module(agrees.place)}"
    return f"that of {words.code(agrees.place)}"


def _in_brackets(nodes: Sequence[str]) -> str:
    return f" ({words.listed(nodes)})" if nodes else ""


def update(evidence: UpdateDiffers, place: str, iteration: int) -> Said:
    """A weight that differs after an update."""
    name = words.code(place)
    culprit, why = None, "what went into the update differs already"
    if evidence.inputs_agree and evidence.optimizer:
        culprit = f"the update by {evidence.optimizer}"
        why = f"gradients and hyper-parameters agree: {culprit}"
    elif evidence.inputs_agree:
        culprit = "the update, or what writes to the weights beside it"
        why = f"gradients agree: {culprit}"
    head = f"{words.within(iteration)} {name} differs after the update"
    return Said(
        culprit=culprit,
        detail=f"{name} differs after the update of iteration {iteration}; {why}.",
        head=head,
        sentence=f"{head}; {why}",
    )


_AFTER_UPDATE = {
    "agrees": "agrees after the update",
    "differs": "differs already after the update",
    "no update": "is held by no optimizer",
}


def written(evidence: WeightWritten, place: str, iteration: int) -> Said:
    """A weight that something beside the optimizer wrote to."""
    name = words.code(place)
    culprit, clause = None, ""
    if evidence.after_update != "differs":
        culprit = (
            f"what writes to {name} after the update (noise, clipping, averaging, a copy into it)"
        )
        clause = f": look at {culprit}"
    what = "is written to and differs"
    if evidence.only_in_one_run:
        what = "only one run writes to it"
    told = f"{name} {_AFTER_UPDATE[evidence.after_update]}, and {what} before the next forward pass"
    head = f"{words.within(iteration)} {told}"
    return Said(culprit=culprit, detail=f"{told}{clause}.", head=head, sentence=f"{head}{clause}")


def changed_afterwards(evidence: ChangedAfterBackward, place: str, iteration: int) -> Said:
    """A gradient of one rank that differs only at the update."""
    name = words.code(place)
    culprit = (
        f"what changes the gradient of {name} between the backward pass and the update (clipping,"
        " noise, unscaling)"
    )
    agrees = "was not recorded in the backward pass"
    if evidence.agreed_before:
        agrees = "agrees as the backward pass left it"
    told = f"the gradient of {name} {agrees} and differs at the update"
    head = f"{up_to_loss(iteration, agrees=evidence.loss_agrees)} {told}"
    return Said(
        culprit=culprit,
        detail=f"{capital(told)}: {culprit}.",
        head=head,
        sentence=f"{head}: look at {culprit}",
    )


def reduced(evidence: ReducedDiffers, place: str, iteration: int) -> Said:
    """A gradient that differs after it was reduced between ranks."""
    culprit, detail = _of_ranks(evidence, words.code(place))
    lead = up_to_loss(iteration, agrees=evidence.loss_agrees)
    head = f"{lead} {small(detail).rstrip('.')}"
    return Said(culprit=culprit, detail=detail, head=head, sentence=head)


_NOT_ONE_SUM = {(False, True): "run 1", (True, False): "run 2", (False, False): "both runs"}
"""Whether all ranks hold one sum in run 1, and in run 2 -> where they do not."""


def _of_ranks(evidence: ReducedDiffers, name: str) -> tuple[str | None, str]:
    """What made the difference, and the detail."""
    if evidence.local_equal is False:
        return None, f"The reduced gradient of {name} differs, and so do local gradients before it."
    if evidence.local_equal is None:
        culprit = (
            "the backward pass or the reduction of gradients between ranks: local gradients were"
            " not recorded"
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
            f"{differs}; in each run all ranks hold the same sum, and the sums of the runs differ:"
            f" {culprit}."
        )
    culprit = (
        "what changes gradients on a rank by itself, in a communication hook or after the reduction"
    )
    run = _NOT_ONE_SUM[evidence.one_sum]
    return culprit, f"{differs}; in {run} the ranks do not hold the same sum: {culprit}."


def up_to_loss(iteration: int, *, agrees: bool) -> str:
    """How a sentence on a gradient begins."""
    within = words.within(iteration)
    if not agrees:
        return within
    return f"{within} everything up to the loss agrees;"
