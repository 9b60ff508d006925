"""A resumed run in which a part of the state was put back, as it was recorded."""

from __future__ import annotations

from reprocheck.resume.model import Arm, Attempt, Outcome
from reprocheck.resume.verdict import NOTHING_TO_COMPARE

KEPT = "values"
"""What a process says that it could not keep, where it is none of the rungs."""


def attempt_of(arm: Arm, outcome: Outcome) -> Attempt:
    """Return what it says, and what had another value in it before."""
    assert outcome.continued is not None and outcome.resumed is not None
    kept, put_back = outcome.continued.controls, outcome.resumed.controls
    names = {
        rung: tuple(touch.what for touch in put_back.touches if touch.control == rung)
        for rung in arm.rungs
    }
    # why something could not be put back: what the continued run could not keep is said first
    unavailable = [why for rung, why in put_back.unavailable if rung in arm.rungs]
    if unavailable:
        unavailable = [*(why for what, why in kept.unavailable if what == KEPT), *unavailable]
    # whether it goes on exactly: losses, weights, states of optimizers and schedules
    agrees: bool | None = outcome.verdict == "resumes_exactly"
    if not agrees and (outcome.verdict in NOTHING_TO_COMPARE or not outcome.compared):
        agrees = None
    return Attempt(
        rungs=arm.rungs,
        run=arm.run,
        agrees=agrees,
        acted=tuple(rung for rung in arm.rungs if names[rung]),
        names=names,
        unavailable=tuple(unavailable),
        differs=outcome.losses.bitwise.first_iteration if outcome.losses else None,
    )
