"""What a training holds at the point where it goes on, sorted by what it is, and one such holding
against another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reprocheck.resume.gap.sides import Side, numbered
from reprocheck.resume.model import StateRungName
from reprocheck.trace.deep import Leaf, Seen

_AVERAGED = "n_averaged"
"""The buffer that `torch.optim.swa_utils.AveragedModel` counts in: what lies beside it are averages
of weights.
"""
_NUMBER = re.compile(r"_\d+(?=[.:]|$)")
"""What Keras puts behind the name of a layer that it makes once more."""
Facts = dict[str, Seen]


@dataclass(frozen=True, slots=True)
class Held:
    """Facts by the name of what they are of.

    rates  the hyper-parameters of each optimizer at its first update
    attributes  tensors of modules that no checkpoint holds
    own, counts  copies of weights that objects of the script hold, and what these count
    """

    weights: Facts = field(default_factory=dict)
    averages: Facts = field(default_factory=dict)
    states: Facts = field(default_factory=dict)
    schedules: Facts = field(default_factory=dict)
    rates: Facts = field(default_factory=dict)
    attributes: Facts = field(default_factory=dict)
    own: Facts = field(default_factory=dict)
    counts: Facts = field(default_factory=dict)


_OF_RUNG: Mapping[StateRungName, Callable[[Held], Facts]] = {
    "weights": lambda one: one.weights,
    "optimizer state": lambda one: one.states or one.rates,
    "hyper-parameters": lambda one: one.schedules or one.rates or one.averages,
}
"""An optimizer that steps and has no state is known by its rates."""


def compared_rungs(was: Held, now: Held) -> Iterator[StateRungName]:
    """Yield the rungs of which both runs hold something."""
    return (rung for rung, facts in _OF_RUNG.items() if facts(was) and facts(now))


def held(side: Side) -> Held:
    """Return what one run holds there."""
    return _sorted(side, side.held)


def held_next(side: Side) -> Held:
    """Return what of it was written once more, one iteration later."""
    return _sorted(side, side.held_next)


def _sorted(side: Side, facts: Mapping[str, Seen]) -> Held:
    stepped: Facts = {}
    for update in side.since("hyper"):
        stepped.setdefault(update.place, update)
    rates = {numbered(place, n): update for n, (place, update) in enumerate(stepped.items())}
    found = Held(rates=rates)
    counters = (name for name in side.held if name.endswith(f".{_AVERAGED}"))
    averaged = tuple(name.removesuffix(_AVERAGED) for name in counters)
    for name, fact in facts.items():
        _place_of(found, fact, averaged)[name] = fact
    return found


def _place_of(found: Held, fact: Seen, averaged: tuple[str, ...]) -> Facts:
    if fact.optimizer is not None:
        return found.states
    if fact.class_:
        by_class = {
            "attribute": found.attributes,
            "own weight": found.own,
            "own number": found.counts,
        }
        return by_class.get(fact.class_, found.schedules)
    if fact.place.startswith(averaged):
        return found.averages
    return found.weights


def named_alike(was: Held, now: Held) -> Held:
    """`now` under the names of `was`, where a model that was built again got other numbers from its
    framework: `dense_2.kernel` for `dense.kernel`.
    """
    return replace(
        now,
        weights=_renumbered(was.weights, now.weights),
        states=_renumbered(was.states, now.states),
    )


def _renumbered(was: Facts, now: Facts) -> Facts:
    lost = [name for name in was if name not in now]
    more = [name for name in now if name not in was]
    if list(map(_without_number, lost)) != list(map(_without_number, more)):
        return now
    names = dict(zip(more, lost, strict=True))
    return {names.get(name, name): fact for name, fact in now.items()}


def _without_number(name: str) -> str:
    return _NUMBER.sub("", name)


@dataclass(frozen=True, slots=True)
class Compared:
    """Names: those whose facts agree, those whose facts do not, and those that one side has."""

    equal: tuple[str, ...]
    unequal: tuple[str, ...]
    lost: tuple[str, ...]
    more: tuple[str, ...]


def compared(was: Mapping[str, Seen], now: Mapping[str, Seen]) -> Compared:
    """Return the facts of the continued run against those of the resumed run, in their order."""
    equal: list[str] = []
    unequal: list[str] = []
    for name in was.keys() & now.keys():
        answer = equal if agrees(was[name], now[name]) else unequal
        answer.append(name)
    return Compared(
        equal=_among(was, equal),
        unequal=_among(was, unequal),
        lost=_among(was, was.keys() - now.keys()),
        more=_among(now, now.keys() - was.keys()),
    )


def _among(ordered: Mapping[str, Seen], names: Collection[str]) -> tuple[str, ...]:
    """Names in the order in which they stand in a mapping."""
    kept = set(names)
    return tuple(filter(kept.__contains__, ordered))


def agrees(was: Seen, now: Seen) -> bool:
    """Return whether two facts hold the same."""
    return was.outputs == now.outputs or not unequal_leaves(was, now)


def unequal_leaves(was: Seen, now: Seen) -> list[tuple[str, Leaf, Leaf]]:
    """Return the leaves that are not the same, with their paths; what one side lacks is not one of
    them.
    """
    others = dict(now.outputs)
    found = []
    for path, leaf in was.outputs:
        other = others.get(path, leaf)
        if _differ(leaf, other):
            found.append((path, leaf, other))
    return found


def _differ(leaf: Leaf, other: Leaf) -> bool:
    if not leaf.known or not other.known or leaf.algorithm != other.algorithm:
        return False
    if leaf.hash or other.hash:
        return (leaf.hash, leaf.dtype) != (other.hash, other.dtype)
    return repr(leaf.value) != repr(other.value)
