"""Copies of weights that objects of the script hold, and what these objects count: an average that
no checkpoint saved.

Also a copy of the last gradients is not what it was at the checkpoint. The first step makes that
anew in both runs: so only what changes from step to step and still differs behind it is told.
"""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.resume.gap.evidence import AttributeGap, Gap, ScheduleGap, WeightsGap
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.gap.training_state import (
    Facts,
    agrees,
    compared,
    held,
    held_next,
    unequal_leaves,
)
from reprocheck.resume.model import StateRungName


def lost(continued: Side, resumed: Side) -> dict[StateRungName, Gap]:
    """Return the gaps on the rungs of the weights and of the hyper-parameters; {} where there are
    none.
    """
    weights, counts = _lost_names(continued, resumed)
    was, now = held(continued), held(resumed)
    gaps: dict[StateRungName, Gap] = {}
    if weights:
        equal = len(compared(was.own, now.own).equal)
        gaps["weights"] = WeightsGap(names=weights, equal=equal, own=True)
    for name in counts[:1]:
        _, leaf, other = unequal_leaves(was.counts[name], now.counts[name])[0]
        gap = ScheduleGap(place=name, name="", values=(leaf.value, other.value), own=True)
        gaps["hyper-parameters"] = gap
    return gaps


def beside(continued: Side, resumed: Side, gaps: Mapping[StateRungName, Gap]) -> tuple[str, ...]:
    """Return what is put back with weights and hyper-parameters although no `state_dict` has it:
    what the gaps are of. Where they are of something else, an average may be lost behind that: all
    that objects of the script hold and that is not what it was.
    """
    if any(isinstance(gap, (WeightsGap, ScheduleGap)) and gap.own for gap in gaps.values()):
        weights, counts = _lost_names(continued, resumed)
        return (*weights, *counts)
    was, now = held(continued), held(resumed)
    own = (*compared(was.own, now.own).unequal, *compared(was.counts, now.counts).unequal)
    of_modules = (gap.names for gap in gaps.values() if isinstance(gap, AttributeGap))
    return (*own, *(name for names in of_modules for name in names))


def _lost_names(continued: Side, resumed: Side) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of copies of weights and of numbers."""
    if not (continued.marked and resumed.marked):
        return (), ()
    was, now = held(continued), held(resumed)
    then, later = held_next(continued), held_next(resumed)
    return (
        _lost(was.own, now.own, then.own, later.own),
        _lost(was.counts, now.counts, then.counts, later.counts),
    )


def _lost(was: Facts, now: Facts, then: Facts, later: Facts) -> tuple[str, ...]:
    """Return the names of what differs at both points, and changes in the continued run."""
    still = set(compared(then, later).unequal)
    unequal = compared(was, now).unequal
    return tuple(name for name in unequal if name in still and not agrees(was[name], then[name]))
