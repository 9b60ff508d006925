"""Tensors that modules keep beside their weights, where nothing else explains what differs.

Many of them are caches that each forward pass writes anew. So they are looked at only where all
that a checkpoint should hold agrees, and only those of the module whose output differs first.
"""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.resume.gap.evidence import AttributeGap, Gap, StepGap
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.gap.training_state import compared, held
from reprocheck.resume.model import StateRungName


def behind(
    continued: Side, resumed: Side, gaps: Mapping[StateRungName, Gap]
) -> dict[StateRungName, Gap]:
    """Return the gap on the rung of the weights, where the first that differs is what a module
    returns or what follows from it; {} where it is something else.
    """
    first = next(iter(gaps.values()), None)
    if not isinstance(first, StepGap) or not (continued.marked and resumed.marked):
        return {}
    unequal = compared(held(continued).attributes, held(resumed).attributes).unequal
    names = tuple(name for name in unequal if _is_used_in(first.place, name))
    if not names:
        return {}
    return {"weights": AttributeGap(names=names)}


def _is_used_in(place: str, name: str) -> bool:
    """Return whether an attribute belongs to the module at a place, or to one around it."""
    owner = name.partition("[")[0].rpartition(".")[0]
    return not owner or f"{place}.".startswith(f"{owner}.")
