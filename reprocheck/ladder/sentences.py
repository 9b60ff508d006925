"""The sentences of a difference, made of its typed evidence: the one place that words these kinds.

Nothing reads them back.
"""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.model.evidence import (
    ChangedAfterBackward,
    ReducedDiffers,
    UpdateDiffers,
    WeightWritten,
)
from reprocheck.model.letters import capital, small


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A difference in words: `detail` for its row of the ladder, `sentence` for the whole, `head`
    the sentence without what it says of the culprit.
    """

    detail: str
    head: str
    sentence: str
    culprit: str | None = None


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
            f"{differs}; in each run all ranks hold the same sum, and it is another one: {culprit}."
        )
    culprit = (
        "what changes gradients on a rank by itself, in a communication hook or after the reduction"
    )
    runs = [f"run {run}" for run, one in enumerate(evidence.one_sum, start=1) if not one]
    which = runs[0] if len(runs) == 1 else "both runs"
    return culprit, f"{differs}; in {which} the ranks do not hold the same sum: {culprit}."


def up_to_loss(iteration: int, *, agrees: bool) -> str:
    """How a sentence on a gradient begins."""
    within = words.within(iteration)
    return f"{within} everything up to the loss agrees;" if agrees else within
