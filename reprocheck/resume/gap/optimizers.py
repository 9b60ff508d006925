"""States of optimizers where the training goes on, against those after update k."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.resume.gap.evidence import Content, OptimizerGap
from reprocheck.resume.gap.held import Facts, Held, compared, unequal_leaves
from reprocheck.trace.deep import Seen

_OF_ONE = (None, (), (1,))
"""Shapes of counts and powers: moments have those of their weights."""


def optimizer(was: Held, now: Held) -> OptimizerGap | None:
    """The states of optimizers that are not those after update k; None where all agree."""
    found = compared(was.states, now.states)
    if found.lost:
        index = was.states[found.lost[0]].optimizer or 0
        return OptimizerGap(names=found.lost, content="missing", index=index)
    if found.unequal:
        return _other(found.unequal, was.states, now.states)
    if found.more:
        index = now.states[found.more[0]].optimizer or 0
        return OptimizerGap(names=found.more, content="extra", index=index)
    return None


def _other(names: tuple[str, ...], was: Facts, now: Facts) -> OptimizerGap:
    """States that hold something else: zero as at the beginning, or whatever it is."""
    content: Content = "another"
    if _are_zero([now[name] for name in names]):
        content = "initial"
    first, other = was[names[0]], now[names[0]]
    return OptimizerGap(
        names=names,
        content=content,
        index=first.optimizer or 0,
        dtypes=_dtypes(first, other),
    )


def _are_zero(states: Sequence[Seen]) -> bool:
    """Whether all moments among some states are zero, as before the first update. Powers and counts
    of one element may begin elsewhere.
    """
    leaves = [leaf for state in states for _, leaf in state.outputs]
    return {leaf.norm for leaf in leaves if leaf.shape not in _OF_ONE} == {0}


def _dtypes(was: Seen, now: Seen) -> tuple[str, str] | None:
    """The types of the first tensor of both that differs, where they are not the same."""
    _, leaf, other = unequal_leaves(was, now)[0]
    if leaf.dtype == other.dtype:
        return None
    return leaf.dtype, other.dtype
