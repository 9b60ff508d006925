"""Sort what a training holds at the point where it goes on.

What the continued run holds there, against what the resumed run holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from reprocheck.ladder import compare
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
from reprocheck.resume.gap.sides import Side, numbered
from reprocheck.resume.model import StateRungName
from reprocheck.trace.deep import Leaf, Seen

_AVERAGED = "n_averaged"
"""The buffer that `torch.optim.swa_utils.AveragedModel` counts in: what lies beside it are averages
of weights.
"""
_NUMBER = re.compile(r"_\d+(?=[.:]|$)")
"""What Keras puts behind the name of a layer that it makes once more."""
_HASHES = compare.Algorithms(first="", second="")
"""Both runs have the same interpreter and so the same hashes, but for leaves that name others."""
Facts = dict[str, Seen]


@dataclass(frozen=True, slots=True)
class Held:
    """Facts by the name of the object that they describe.

    rates        the hyper-parameters of each optimizer at its first update
    attributes   tensors of modules that no checkpoint holds
    own, counts  copies of weights that objects of the script hold, and the counts of these objects
    """

    weights: Facts = field(default_factory=dict)
    averages: Facts = field(default_factory=dict)
    states: Facts = field(default_factory=dict)
    schedules: Facts = field(default_factory=dict)
    rates: Facts = field(default_factory=dict)
    attributes: Facts = field(default_factory=dict)
    own: Facts = field(default_factory=dict)
    counts: Facts = field(default_factory=dict)


NOTHING = Held()


@dataclass(frozen=True, slots=True)
class StatePair:
    """The states of the continued run (`was`) and the resumed run (`now`) at the checkpoint.

    Where the training goes on after it, and one iteration later (`was_next`, `now_next`); empty if
    either run did not record the point.
    """

    was: Held = NOTHING
    now: Held = NOTHING
    was_next: Held = NOTHING
    now_next: Held = NOTHING

    @property
    def rungs(self) -> Iterator[StateRungName]:
        """The rungs for which both runs recorded state.

        An optimizer that steps and has no state is known by its hyper-parameters.
        """
        was, now = self.was, self.now
        if was.weights and now.weights:
            yield "weights"
        if (was.states or was.rates) and (now.states or now.rates):
            yield "optimizer state"
        values = [one.schedules or one.rates or one.averages for one in (was, now)]
        if all(values):
            yield "hyper-parameters"


def states_of(continued: Side, resumed: Side) -> StatePair:
    """Return the recorded state of both runs, under the names of the continued run."""
    if not (continued.marked and resumed.marked):
        return StatePair()
    was, now = _sorted(continued, continued.held), _sorted(resumed, resumed.held)
    renamed = replace(
        now,
        weights=_under_the_names_of(was.weights, now.weights),
        states=_under_the_names_of(was.states, now.states),
    )
    was_next = _sorted(continued, continued.held_next)
    return StatePair(was, renamed, was_next, _sorted(resumed, resumed.held_next))


def _sorted(side: Side, facts: Mapping[str, Seen]) -> Held:
    """Group facts by the object that they describe."""
    stepped: Facts = {}
    for update in side.since("hyper"):
        stepped.setdefault(update.place, update)
    rates = {numbered(place, n): update for n, (place, update) in enumerate(stepped.items())}
    held = Held(rates=rates)
    of_class = {"attribute": held.attributes, "own weight": held.own, "own number": held.counts}
    counters = [name for name in side.held if name.endswith(f".{_AVERAGED}")]
    averaged = tuple(name.removesuffix(_AVERAGED) for name in counters)
    for name, fact in facts.items():
        kind = held.weights
        if fact.optimizer is not None:
            kind = held.states
        elif fact.class_:
            kind = of_class.get(fact.class_, held.schedules)
        elif fact.place.startswith(averaged):
            kind = held.averages
        kind[name] = fact
    return held


def _under_the_names_of(was: Facts, now: Facts) -> Facts:
    """Return `now` under the names of `was`.

    A model that was built again may get other numbers from its framework: `dense_2.kernel` for
    `dense.kernel`.
    """
    lost = [name for name in was if name not in now]
    more = [name for name in now if name not in was]
    if [_NUMBER.sub("", name) for name in lost] != [_NUMBER.sub("", name) for name in more]:
        return now
    names = dict(zip(more, lost, strict=True))
    return {names.get(name, name): fact for name, fact in now.items()}


@dataclass(frozen=True, slots=True)
class Compared:
    """Names of facts: those that agree, those that differ, and those that only one side has."""

    equal: tuple[str, ...]
    unequal: tuple[str, ...]
    lost: tuple[str, ...]
    more: tuple[str, ...]


def compared(was: Facts, now: Facts) -> Compared:
    """Return the facts of the continued run against those of the resumed run, in their order."""
    equal: list[str] = []
    unequal: list[str] = []
    for name in was:
        if name in now:
            names = equal if agrees(was[name], now[name]) else unequal
            names.append(name)
    return Compared(
        equal=tuple(equal),
        unequal=tuple(unequal),
        lost=tuple(name for name in was if name not in now),
        more=tuple(name for name in now if name not in was),
    )


def agrees(was: Seen, now: Seen) -> bool:
    """Return whether two facts hold the same."""
    return was.outputs == now.outputs or not unequal_leaves(was, now)


def unequal_leaves(was: Seen, now: Seen) -> list[tuple[str, Leaf, Leaf]]:
    """Return the leaves that differ, with their paths.

    Leaves that one side lacks are left out.
    """
    others = dict(now.outputs)
    both = ((path, leaf, others[path]) for path, leaf in was.outputs if path in others)
    return [leaves for leaves in both if compare.equal(*leaves[1:], _HASHES) is False]


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
    """Return what is put back although no `state_dict` has it: what the gaps are of.

    Beside weights and hyper-parameters. Where the gaps are of something else, an average may be
    lost behind that: all that objects of the script hold and that is not what it was.
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
