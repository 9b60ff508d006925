"""Copies of weights that objects of the script hold, and what these objects count: an average that
no checkpoint saved.

Also a copy of the last gradients is not what it was at the checkpoint. The first step makes that
anew in both runs: so only what changes from step to step and still differs behind it is told.
"""

from __future__ import annotations

from reprocheck.resume.gap.evidence import Gap, ScheduleGap, WeightsGap
from reprocheck.resume.gap.held import Facts, agrees, compared, held, held_next, unequal_leaves
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.model import StateRungName


def lost(continued: Side, resumed: Side) -> dict[StateRungName, Gap]:
    """The gaps on the rungs of the weights and of the hyper-parameters; {} where there are none."""
    if not (continued.marked and resumed.marked):
        return {}
    was, now = held(continued), held(resumed)
    then, later = held_next(continued), held_next(resumed)
    gaps: dict[StateRungName, Gap] = {}
    weights = _lost(was.own, now.own, then.own, later.own)
    if weights:
        equal = len(compared(was.own, now.own).equal)
        gaps["weights"] = WeightsGap(names=weights, equal=equal)
    for name in _lost(was.counts, now.counts, then.counts, later.counts):
        _, leaf, other = unequal_leaves(was.counts[name], now.counts[name])[0]
        gap = ScheduleGap(place=name, name="", values=(leaf.value, other.value))
        gaps.setdefault("hyper-parameters", gap)
    return gaps


def _lost(was: Facts, now: Facts, then: Facts, later: Facts) -> tuple[str, ...]:
    """The names of what differs at both points, and changes in the continued run."""
    still = set(compared(then, later).unequal)
    unequal = compared(was, now).unequal
    return tuple(name for name in unequal if name in still and not agrees(was[name], then[name]))
