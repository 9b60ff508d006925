"""The gaps of what a training holds where it goes on: weights, states of optimizers, schedules,
tensors that modules keep beside their weights, and copies of weights that objects of the script
hold.
"""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.resume.gap.evidence import (
    AttributeGap,
    AverageGap,
    Content,
    Gap,
    OptimizerGap,
    ScheduleGap,
    StepGap,
    WeightsGap,
)
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.gap.training_state import (
    Facts,
    StatePair,
    agrees,
    compared,
    unequal_leaves,
)
from reprocheck.resume.model import StateRungName

Gaps = dict[StateRungName, Gap]


def weights(states: StatePair, continued: Side, resumed: Side) -> WeightsGap | None:
    """Return the weights and buffers that differ from those after update k; None if all agree."""
    was, now = states.was.weights, states.now.weights
    names = compared(was, now)
    if not names.unequal:
        return None
    initial = continued.initial
    known = [name for name in names.unequal if name in initial]
    loads = list(resumed.before("load"))
    # keys that a module did not find in what it was given
    missing = [dict(load.inputs).get("missing") for load in loads]
    texts = [leaf.value for leaf in missing if leaf is not None and isinstance(leaf.value, str)]
    return WeightsGap(
        names=names.unequal,
        initial=tuple(name for name in known if agrees(initial[name], now[name])),
        equal=sum(not now[name].buffer for name in names.equal),
        loaded=tuple(dict.fromkeys(load.place for load in loads)),
        missing=tuple(filter(None, texts)),
    )


def optimizer(states: StatePair) -> OptimizerGap | None:
    """Return the optimizer states that differ from those after update k; None if all agree."""
    was, now = states.was.states, states.now.states
    names = compared(was, now)
    if names.lost:
        index = was[names.lost[0]].optimizer or 0
        return OptimizerGap(names=names.lost, content="missing", index=index)
    if not names.unequal:
        if not names.more:
            return None
        index = now[names.more[0]].optimizer or 0
        return OptimizerGap(names=names.more, content="extra", index=index)
    # zero as at the beginning, but for powers and counts of one element, which may begin elsewhere
    leaves = [leaf for name in names.unequal for _, leaf in now[name].outputs]
    norms = {leaf.norm for leaf in leaves if leaf.shape not in (None, (), (1,))}
    content: Content = "initial" if norms == {0} else "another"
    first = was[names.unequal[0]]
    _, leaf, other = unequal_leaves(first, now[names.unequal[0]])[0]
    return OptimizerGap(
        names=names.unequal,
        content=content,
        index=first.optimizer or 0,
        dtypes=(leaf.dtype, other.dtype) if leaf.dtype != other.dtype else None,
    )


def schedule(states: StatePair) -> ScheduleGap | AverageGap | None:
    """Return the first value of a scheduler, scaler or optimizer group that differs.

    If none does, the averages of weights that differ; None if all agree.
    """
    was, now = states.was, states.now
    for one, other in ((was.schedules, now.schedules), (was.rates, now.rates)):
        unequal = compared(one, other).unequal
        for place in unequal[:1]:
            path, leaf, changed = unequal_leaves(one[place], other[place])[0]
            values = leaf.value, changed.value
            are_small = all(isinstance(value, (bool, int, float, str)) for value in values)
            return ScheduleGap(
                place=place,
                name=path,
                values=values if are_small else None,
                optimizer=one[place].optimizer,
                others=unequal[1:],
            )
    averages = compared(was.averages, now.averages).unequal
    return AverageGap(names=averages) if averages else None


def attributes(states: StatePair, gaps: Mapping[StateRungName, Gap]) -> Gaps:
    """Return the gap of tensors that modules keep beside their weights, by its rung.

    Many of them are caches that each forward pass writes anew. So they are looked at only where the
    first that differs is what a module returns or what follows from it, and only those of the
    module at that place, or of one around it.
    """
    first = next(iter(gaps.values()), None)
    if not isinstance(first, StepGap):
        return {}
    names = []
    for name in compared(states.was.attributes, states.now.attributes).unequal:
        owner = name.partition("[")[0].rpartition(".")[0]
        if not owner or f"{first.place}.".startswith(f"{owner}."):
            names.append(name)
    return {"weights": AttributeGap(names=tuple(names))} if names else {}


def lost_copies(states: StatePair) -> Gaps:
    """Return the gaps of copies of weights that objects of the script hold.

    Such as an average that no checkpoint saved, and the counts of these objects; {} if there are
    none.
    """
    was, now = states.was, states.now
    names, counts = _lost_names(states)
    gaps: Gaps = {}
    if names:
        equal = len(compared(was.own, now.own).equal)
        gaps["weights"] = WeightsGap(names=names, equal=equal, own=True)
    for name in counts[:1]:
        _, leaf, other = unequal_leaves(was.counts[name], now.counts[name])[0]
        values = leaf.value, other.value
        gaps["hyper-parameters"] = ScheduleGap(place=name, name="", values=values, own=True)
    return gaps


def put_back_beside(states: StatePair, gaps: Mapping[StateRungName, Gap]) -> tuple[str, ...]:
    """Return what is put back with weights and hyper-parameters although no `state_dict` has it:
    what the gaps are of. Where they are of something else, an average may be lost behind that: all
    that objects of the script hold and that is not what it was.
    """
    if any(isinstance(gap, (WeightsGap, ScheduleGap)) and gap.own for gap in gaps.values()):
        names, counts = _lost_names(states)
        return (*names, *counts)
    was, now = states.was, states.now
    own = (*compared(was.own, now.own).unequal, *compared(was.counts, now.counts).unequal)
    of_modules = (gap.names for gap in gaps.values() if isinstance(gap, AttributeGap))
    return (*own, *(name for names in of_modules for name in names))


def _lost_names(states: StatePair) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of copies of weights and of numbers that were lost.

    Also a copy of the last gradients is not what it was at the checkpoint. The first step makes
    that anew in both runs: so only what changes from step to step and still differs behind it is
    lost.
    """

    def lost(was: Facts, now: Facts, was_next: Facts, now_next: Facts) -> tuple[str, ...]:
        still = set(compared(was_next, now_next).unequal)
        unequal = [name for name in compared(was, now).unequal if name in still]
        return tuple(name for name in unequal if not agrees(was[name], was_next[name]))

    was, now, was_next, now_next = states.was, states.now, states.was_next, states.now_next
    return (
        lost(was.own, now.own, was_next.own, now_next.own),
        lost(was.counts, now.counts, was_next.counts, now_next.counts),
    )
