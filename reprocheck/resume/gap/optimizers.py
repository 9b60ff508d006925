"""States of optimizers where the training goes on, against those after update k."""

from __future__ import annotations

from reprocheck.resume.gap.evidence import Content, OptimizerGap
from reprocheck.resume.gap.training_state import Facts, Held, compared, unequal_leaves
from reprocheck.trace.deep import Seen


def optimizer(was: Held, now: Held) -> OptimizerGap | None:
    """Return the states of optimizers that are not those after update k; None where all agree."""
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
    """Return states that hold something else: zero as at the beginning, or whatever it is."""
    content: Content = "another"
    # powers and counts of one element may begin elsewhere than at zero
    leaves = [leaf for name in names for _, leaf in now[name].outputs]
    if {leaf.norm for leaf in leaves if leaf.shape not in (None, (), (1,))} == {0}:
        content = "initial"
    first, other = was[names[0]], now[names[0]]
    return OptimizerGap(
        names=names,
        content=content,
        index=first.optimizer or 0,
        dtypes=_dtypes(first, other),
    )


def _dtypes(was: Seen, now: Seen) -> tuple[str, str] | None:
    """Return the types of the first tensor of both that differs, where they are not the same."""
    _, leaf, other = unequal_leaves(was, now)[0]
    if leaf.dtype == other.dtype:
        return None
    return leaf.dtype, other.dtype
