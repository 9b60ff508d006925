"""What a training holds at the point where it goes on, sorted by what it is, and what the continued
run holds there against what the resumed run holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from reprocheck.ladder import compare
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
    """The state of the continued run (`was`) and the resumed run (`now`) where the training goes on
    after the checkpoint, and one iteration later (`was_next`, `now_next`); empty if either run did
    not record the point.
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
