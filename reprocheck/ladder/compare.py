"""Compare one fact of two runs, leaf by leaf; a leaf is one tensor or value.

Hashes of different algorithms cannot be compared, and never count as a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from math import inf, nan

import msgspec

from reprocheck.ladder.align import Step
from reprocheck.model.statements.difference import THE_MODEL, Fact
from reprocheck.trace.deep import DeepTrace, Leaf, Leaves, Seen

NOT_FINITE = {"nan": nan, "inf": inf, "-inf": -inf}
"""How a trace writes the floats that JSON does not know."""
_NOTHING = Seen(kind="")
NO_FACTS = (_NOTHING, _NOTHING)
"""Stands for a fact that not both runs have: nothing of it differs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Algorithms:
    """The hash algorithms of the two traces."""

    first: str
    second: str

    def comparable(self, a: Leaf, b: Leaf) -> bool:
        """Return whether two hashes can be compared."""
        return (a.algorithm or self.first) == (b.algorithm or self.second)


def algorithms(first: DeepTrace, second: DeepTrace) -> Algorithms:
    """Return the hash algorithms of two traces."""
    return Algorithms(first=first.algorithm, second=second.algorithm)


def equal(a: Leaf, b: Leaf, algorithms: Algorithms) -> bool | None:
    """Return whether two leaves are equal in every bit; None if that cannot be said."""
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    if "" not in (a.hash, b.hash) and algorithms.comparable(a, b):
        return a.hash == b.hash
    both = values(a, b)
    if both is None:
        return None
    return repr(both[0]) == repr(both[1])


def differing(a: Leaves, b: Leaves, algorithms: Algorithms) -> tuple[str, ...]:
    """Return the paths of the leaves that differ, or that only one side has, in order."""
    # most facts agree, and are compared in one step
    if a == b:
        return ()
    ones, others = dict(a), dict(b)
    alone = ones.keys() ^ others.keys()
    common = ones.keys() & others.keys()
    unequal = {path for path in common if equal(ones[path], others[path], algorithms) is False}
    different = alone | unequal
    return tuple(path for path in {**ones, **others} if path in different)


def known(a: Leaves, b: Leaves, algorithms: Algorithms) -> bool:
    """Return whether any leaf of the two sides could be compared."""
    ones, others = dict(a), dict(b)
    return any(
        equal(ones[path], others[path], algorithms) is not None
        for path in ones.keys() & others.keys()
        if ones[path].known
    )


def inputs(step: Step, algorithms: Algorithms) -> tuple[str, ...]:
    """Return paths of the inputs that differ."""
    first, second = _facts(step)
    return differing(first.inputs, second.inputs, algorithms)


def outputs(step: Step, algorithms: Algorithms) -> tuple[str, ...]:
    """Return paths of the outputs that differ."""
    first, second = _facts(step)
    return differing(first.outputs, second.outputs, algorithms)


def states(step: Step) -> tuple[str, ...]:
    """Return the generators that both runs draw from in a step, if their states before differ."""
    first, second = _facts(step)
    drawn = first.after.keys() | second.after.keys()
    return tuple(name for name in unequal_states(first.before, second.before) if name in drawn)


def unequal_states(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Return the names whose states differ, of generators or other named things known to both."""
    return [name for name, state in first.items() if second.get(name, state) != state]


def _facts(step: Step) -> tuple[Seen, Seen]:
    """Return the fact in both runs; two empty facts if only one run has it."""
    return step.facts or NO_FACTS


def leaf(leaves: Leaves, path: str) -> Leaf | None:
    """Return the leaf at a path."""
    return dict(leaves).get(path)


def first_output(seen: Seen | None) -> Leaf:
    """Return the first output leaf of a fact; an empty leaf if there is none."""
    if seen is None or not seen.outputs:
        return Leaf()
    return seen.outputs[0][1]


def values(a: Leaf | None, b: Leaf | None) -> tuple[object, object] | None:
    """Return the values of two leaves; None unless both carry one."""
    if a is None or b is None:
        return None
    both = a.value, b.value
    if msgspec.UNSET in both:
        return None
    return both


def numbers(value: object) -> list[float] | None:
    """Return a value as numbers: a number itself, or a nest of them."""
    if isinstance(value, str):
        value = NOT_FINITE.get(value)
    if isinstance(value, (list, tuple)):
        parts = [numbers(one) for one in value]
        if None in parts:
            return None
        return list(chain(*filter(None, parts)))
    # a truth value is an integer, too
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return [float(value)]


def hashes(leaves: Leaves) -> frozenset[str]:
    """Return the hashes of the tensors among leaves."""
    return frozenset(leaf.hash for _, leaf in leaves if leaf.hash)


def returned(facts: Iterable[Seen]) -> frozenset[str]:
    """Return the hashes of the tensors that came out of several facts."""
    return frozenset(chain.from_iterable(hashes(seen.outputs) for seen in facts))


def fact_of(seen: Seen) -> Fact:
    """Return the part of a fact of one run that statements name."""
    return Fact(
        kind=seen.kind,
        place=seen.place,
        class_=seen.class_,
        iteration=seen.iteration,
        call=seen.call,
        buffer=seen.buffer,
    )


def fact_of_step(step: Step) -> Fact:
    """Return the part of a fact that statements name, with the run if only one run has the fact."""
    fact = fact_of(step.seen)
    if step.both:
        return fact
    return replace(fact, only_in=2 if step.first is None else 1)


def place_of(seen: Seen, class_: str = "") -> str:
    """Return the place of a rung: the path of a module, or the class of the model itself."""
    return seen.place or seen.class_ or class_ or THE_MODEL
