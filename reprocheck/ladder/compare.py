"""What differs within one fact: leaf by leaf.

Hashes of different algorithms are not comparable; they never count as a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from reprocheck.ladder.align import Step
from reprocheck.trace.deep import DeepTrace, Leaf, Leaves


@dataclass(frozen=True, kw_only=True, slots=True)
class Algorithms:
    """The hash algorithms of the two traces."""

    first: str
    second: str

    def comparable(self, a: Leaf, b: Leaf) -> bool:
        """Whether two hashes can be compared."""
        return (a.algorithm or self.first) == (b.algorithm or self.second)


def algorithms(first: DeepTrace, second: DeepTrace) -> Algorithms:
    """Those of two traces."""
    return Algorithms(first=first.algorithm, second=second.algorithm)


def equal(a: Leaf, b: Leaf, algorithms: Algorithms) -> bool | None:
    """Whether two leaves are equal in every bit; None where that cannot be said."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.hash and b.hash and algorithms.comparable(a, b):
        return a.hash == b.hash
    if a.value is not msgspec.UNSET and b.value is not msgspec.UNSET:
        return repr(a.value) == repr(b.value)
    return None


def differing(a: Leaves, b: Leaves, algorithms: Algorithms) -> tuple[str, ...]:
    """Paths of the leaves that differ, in order; those that only one side has are among them."""
    if a == b:
        return ()
    if len(a) == len(b) == 1 and a[0][0] == b[0][0]:
        return (a[0][0],) if equal(a[0][1], b[0][1], algorithms) is False else ()
    others = dict(b)
    here = dict(a)
    paths = [
        path
        for path, leaf in a
        if path not in others or equal(leaf, others[path], algorithms) is False
    ]
    return (*paths, *(path for path in others if path not in here))


def known(a: Leaves, b: Leaves, algorithms: Algorithms) -> bool:
    """Whether any leaf of the two could be compared."""
    others = dict(b)
    return any(
        path in others and leaf.known and equal(leaf, others[path], algorithms) is not None
        for path, leaf in a
    )


def inputs(step: Step, algorithms: Algorithms) -> tuple[str, ...]:
    """Paths of the inputs that differ."""
    return (
        differing(step.first.inputs, step.second.inputs, algorithms)
        if step.first and step.second
        else ()
    )


def outputs(step: Step, algorithms: Algorithms) -> tuple[str, ...]:
    """Paths of the outputs that differ."""
    return (
        differing(step.first.outputs, step.second.outputs, algorithms)
        if step.first and step.second
        else ()
    )


def states(step: Step) -> tuple[str, ...]:
    """The generators drawn from in both runs whose states before differ."""
    if not (step.first and step.second):
        return ()
    other = step.second
    return tuple(
        name
        for name, state in step.first.before.items()
        if name in other.before
        and state != other.before[name]
        and (name in step.first.after or name in other.after)
    )


def leaf(leaves: Leaves, path: str) -> Leaf | None:
    """The leaf at a path."""
    return next((leaf for name, leaf in leaves if name == path), None)


def values(a: Leaf | None, b: Leaf | None) -> tuple[object, object] | None:
    """The values of both leaves, where both carry them."""
    if a is None or b is None or a.value is msgspec.UNSET or b.value is msgspec.UNSET:
        return None
    return a.value, b.value


def numbers(value: object) -> list[float] | None:
    """A value as numbers: a number itself, or a nest of them."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return [float(value)]
    if isinstance(value, str):
        return [float(value)] if value in ("nan", "inf", "-inf") else None
    if isinstance(value, Sequence):
        parts = [numbers(one) for one in value]
        return (
            [number for part in parts if part is not None for number in part]
            if None not in parts
            else None
        )
    return None


def hashes(leaves: Leaves) -> frozenset[str]:
    """Hashes of the tensors among leaves."""
    return frozenset(leaf.hash for _, leaf in leaves if leaf.hash)
