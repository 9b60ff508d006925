"""A resumed run in which a part of the state was put back, as it was recorded."""

from __future__ import annotations

from reprocheck.resume.model import Arm, Attempt, Outcome
from reprocheck.resume.verdict import NOTHING_TO_COMPARE

KEPT = "values"
"""What a process says that it could not keep, where it is none of the rungs."""


def attempt_of(arm: Arm, outcome: Outcome) -> Attempt:
    """What it says, and what had another value in it before."""
    assert outcome.resumed is not None
    run = outcome.resumed
    names = {
        rung: tuple(touch.what for touch in run.controls.touches if touch.control == rung)
        for rung in arm.rungs
    }
    acted = tuple(rung for rung in arm.rungs if names[rung])
    return Attempt(
        rungs=arm.rungs,
        run=arm.run,
        agrees=_agrees(outcome),
        acted=acted,
        names=names,
        unavailable=tuple(why for rung, why in run.controls.unavailable if rung in arm.rungs),
        differs=_differs(outcome),
    )


def _agrees(outcome: Outcome) -> bool | None:
    """Whether it goes on exactly: losses, weights, states of optimizers and schedules."""
    if outcome.verdict == "resumes_exactly":
        return True
    if outcome.verdict in NOTHING_TO_COMPARE or not outcome.compared:
        return None
    return False


def _differs(outcome: Outcome) -> int | None:
    if outcome.losses is None:
        return None
    return outcome.losses.bitwise.first_iteration
