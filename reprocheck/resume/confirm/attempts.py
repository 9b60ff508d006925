"""A resumed run in which a part of the state was put back, as it was recorded."""

from __future__ import annotations

from reprocheck.resume.model import Arm, Attempt, Outcome
from reprocheck.resume.verdict import NOTHING_TO_COMPARE

KEPT = "values"
"""What a process says that it could not keep, where it is none of the rungs."""


def attempt_of(arm: Arm, outcome: Outcome) -> Attempt:
    """Return what it says, and what had another value in it before."""
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
        unavailable=_unavailable(arm, outcome),
        differs=outcome.losses.bitwise.first_iteration if outcome.losses else None,
    )


def _unavailable(arm: Arm, outcome: Outcome) -> tuple[str, ...]:
    """Return why something could not be put back: what the continued run could not keep is said
    first.
    """
    assert outcome.continued is not None and outcome.resumed is not None
    kept, put = outcome.continued.controls.unavailable, outcome.resumed.controls.unavailable
    not_put = [why for rung, why in put if rung in arm.rungs]
    if not not_put:
        return ()
    return (*(why for what, why in kept if what == KEPT), *not_put)


def _agrees(outcome: Outcome) -> bool | None:
    """Return whether it goes on exactly: losses, weights, states of optimizers and schedules."""
    if outcome.verdict == "resumes_exactly":
        return True
    if outcome.verdict in NOTHING_TO_COMPARE or not outcome.compared:
        return None
    return False
