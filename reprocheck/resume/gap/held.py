"""What a training holds at the point where it goes on, sorted by what it is, and one such holding
against another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reprocheck.resume.gap.sides import Side, numbered
from reprocheck.trace.deep import Leaf, Seen

_AVERAGED = "n_averaged"
"""The buffer that `torch.optim.swa_utils.AveragedModel` counts in: what lies beside it are averages
of weights.
"""
Facts = dict[str, Seen]


@dataclass(frozen=True, slots=True)
class Held:
    """Facts by the name of what they are of.

    rates  the hyper-parameters of each optimizer at its first update
    """

    weights: Facts = field(default_factory=dict)
    averages: Facts = field(default_factory=dict)
    states: Facts = field(default_factory=dict)
    schedules: Facts = field(default_factory=dict)
    rates: Facts = field(default_factory=dict)


def held(side: Side) -> Held:
    """What one run holds there."""
    found = Held()
    counters = (name for name in side.held if name.endswith(f".{_AVERAGED}"))
    averaged = tuple(name.removesuffix(_AVERAGED) for name in counters)
    for name, fact in side.held.items():
        _place_of(found, fact, averaged)[name] = fact
    stepped: Facts = {}
    for fact in side.since("hyper"):
        stepped.setdefault(fact.place, fact)
    rates = {numbered(place, n): fact for n, (place, fact) in enumerate(stepped.items())}
    return replace(found, rates=rates)


def _place_of(found: Held, fact: Seen, averaged: tuple[str, ...]) -> Facts:
    if fact.optimizer is not None:
        return found.states
    if fact.class_:
        return found.schedules
    if fact.place.startswith(averaged):
        return found.averages
    return found.weights


@dataclass(frozen=True, slots=True)
class Compared:
    """Names: those whose facts agree, those whose facts do not, and those that one side has."""

    equal: tuple[str, ...]
    unequal: tuple[str, ...]
    lost: tuple[str, ...]
    more: tuple[str, ...]


def compared(was: Mapping[str, Seen], now: Mapping[str, Seen]) -> Compared:
    """The facts of the continued run against those of the resumed run, in their order."""
    lost = tuple(name for name in was if name not in now)
    more = tuple(name for name in now if name not in was)
    agree = {name: agrees(was[name], now[name]) for name in was.keys() - set(lost)}
    equal = tuple(name for name in was if agree.get(name) is True)
    unequal = tuple(name for name in was if agree.get(name) is False)
    return Compared(equal, unequal, lost, more)


def agrees(was: Seen, now: Seen) -> bool:
    """Whether two facts hold the same."""
    return was.outputs == now.outputs or not unequal_leaves(was, now)


def unequal_leaves(was: Seen, now: Seen) -> list[tuple[str, Leaf, Leaf]]:
    """The leaves that are not the same, with their paths; what one side lacks is not one of
    them.
    """
    others = dict(now.outputs)
    both = ((path, leaf, others[path]) for path, leaf in was.outputs if path in others)
    return [found for found in both if _differ(found[1], found[2])]


def _differ(leaf: Leaf, other: Leaf) -> bool:
    if not leaf.known or not other.known or leaf.algorithm != other.algorithm:
        return False
    if leaf.hash or other.hash:
        return (leaf.hash, leaf.dtype) != (other.hash, other.dtype)
    return repr(leaf.value) != repr(other.value)
