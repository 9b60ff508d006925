"""What was put back, and what came of it, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reprocheck.files.summary import summary
from reprocheck.language import count, listed
from reprocheck.resume.model import Attempt, Outcome, StateRungName

BROKEN_OFF = "Not confirmed: the search was ended before it came to an end."
NOTHING = (
    "Not confirmed: no rung differs that could be put back. What differs lies in the forward pass"
    " or behind it."
)
COUNTER = "Not confirmed: what the script itself counts cannot be put back."
UNRECORDED = (
    "Not confirmed: of what the training goes on with nothing was recorded that could be put back."
)
NO_ITERATION = (
    "Not confirmed: the resumed run makes no iteration, and what was lost is put back in front of"
    " its first forward pass."
)
OBJECTS: Mapping[StateRungName, str] = {
    "weights": "the weights and buffers",
    "optimizer state": "the state of the optimizer",
    "hyper-parameters": "the hyper-parameters and schedules",
    "RNG state": "the states of the generators",
    "batch": "the batches",
}
"""What is put back of each rung."""


def objects(rungs: Sequence[StateRungName]) -> str:
    """Return `the state of the optimizer and the batches`."""
    return listed(OBJECTS[rung] for rung in rungs)


def confirmed(outcome: Outcome, attempt: Attempt, parts: Sequence[Attempt]) -> str:
    """Say what was put back, that nothing differs any more, and what each part changed."""
    many = count(outcome.compared, "iteration")
    parts_said = [
        f"Confirmed: with {objects(attempt.rungs)} of the continued run put back{_names(attempt)},"
        f" the resumed run goes on exactly: {many}, bit for bit"
    ]
    unequal = (one for one in parts if one.agrees is False)
    parts_said += [f"with {objects(one.rungs)} alone, {_left(one)}" for one in unequal]
    return "; ".join(parts_said) + "."


def not_confirmed(attempt: Attempt) -> str:
    """Say what was put back in vain, and what still differs."""
    given = f"with {objects(attempt.rungs)} of the continued run put back{_names(attempt)}"
    if attempt.unavailable:
        what = objects(attempt.rungs)
        return (
            f"Not confirmed: what was lost cannot be put back ({what}): {attempt.unavailable[0]}."
        )
    if attempt.agrees is None:
        return f"Not confirmed: {given}, the resumed run fails, or makes no iteration."
    if not attempt.acted:
        return f"Not confirmed: {given}, nothing had another value than before."
    besides = "there is something else"
    if "RNG state" in attempt.rungs and attempt.differs == 1:
        besides = (
            "what the script itself draws before the first forward pass is drawn by then, or there"
            " is something else"
        )
    return f"Not confirmed: {given}, {_left(attempt)}: {besides}."


def _left(attempt: Attempt) -> str:
    if attempt.differs is None:
        return "what the training goes on with is still not what it was"
    return f"the losses still differ from iteration {attempt.differs} on"


def _names(attempt: Attempt) -> str:
    """Return the names of the values that differed, in parentheses."""
    names = [name for rung in attempt.rungs for name in attempt.names.get(rung, ())]
    batches = len(attempt.names.get("batch", ()))
    if batches:
        names = [*names[:-batches], count(batches, "batch", "batches")]
    return f" ({summary(names)})" if names else ""
