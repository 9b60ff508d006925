"""The first difference on one rung of one rank, with its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step
from reprocheck.ladder.compare import place_of
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.ladder.size import relative_difference, size_of
from reprocheck.model import RUNGS, Rung, RungName, RungStatus, Size, SourceLine
from reprocheck.model.evidence import Evidence, Measured
from reprocheck.model.statements.difference import FirstDifference
from reprocheck.trace.deep import Leaf, Seen, Sketched, sketched

_HUGE, _TINY = 1e18, 1e-30
"""Norms beyond them are those of memory that nobody filled, rather than of a weight."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """An operator that makes a difference itself.

    seen      its call in run 1
    unfilled  paths of its inputs that are uninitialized memory
    """

    seen: Seen
    unfilled: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding(Rung):
    """The first difference on a rung of one rank.

    number  its step in the merged order of both runs; -1 for a difference before the first
            iteration
    rank    the rank that recorded it
    """

    status: RungStatus = "differs"
    number: int
    rank: int
    place: str
    statement: FirstDifference
    evidence: Evidence
    operation: Operation | None = None

    @property
    def order(self) -> tuple[int, int]:
        """A sort key by the order of execution; at one step, by the order of the rungs."""
        return self.number, RUNGS.index(self.rung)

    @property
    def when(self) -> tuple[int, int]:
        """A sort key across ranks: the iteration (0 before the first) and the rung.

        The order of execution is not known across ranks.
        """
        return self.iteration or 0, RUNGS.index(self.rung)


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """How far two leaves are apart, and what they are; a leaf is one tensor or value."""

    size: Size | None = None
    relative: float | None = None
    of: Measured = field(default_factory=Measured)


def found(
    pair: Pair,
    step: Step,
    rung: RungName,
    statement: FirstDifference,
    measured: Measure | None = None,
    *,
    evidence: Evidence,
    place: str = "",
    line: str = "",
    operations: Sequence[str] = (),
    inside: str = "",
) -> Finding:
    """Return the finding for a fact that differs on a rung.

    place  the place, if it is not that of the fact
    line   the line of the user's code, as `file:line`
    """
    seen, measured = step.seen, measured or Measure()
    # a module that has no class is known by its place alone
    return Finding(
        rung=rung,
        number=step.number,
        iteration=seen.iteration or None,
        rank=pair.rank,
        place=place or place_of(seen),
        statement=statement,
        size=measured.size,
        relative_difference=measured.relative,
        source=SourceLine.of(line),
        evidence=evidence,
        measured=measured.of,
        operations=tuple(name for name in (*operations, seen.class_) if name),
        inside=inside,
    )


def step_number(pair: Pair, finding: Finding) -> int:
    """Return the number of the step of a finding, also if it is before the first iteration."""
    if finding.number >= 0:
        return finding.number
    steps = (one.step.number for one in pair.differences if one.rung == finding.rung)
    return next(steps, finding.number)


def measure(pair: Pair, difference: Difference, *, inputs: bool = False) -> Measure:
    """Return size and kind of the first differing output; with `inputs`, of the first input."""
    paths = difference.inputs if inputs else difference.outputs
    facts = difference.step.facts
    if not paths or facts is None:
        return Measure()
    sides = [seen.inputs if inputs else seen.outputs for seen in facts]
    a, b = (compare.leaf(side, paths[0]) for side in sides)
    leaves = [leaf for leaf in (a, b) if leaf is not None]
    shapes = None
    # only tensors have a type
    if a is not None and b is not None and a.dtype and a.shape != b.shape:
        shapes = tuple(a.shape or ()), tuple(b.shape or ())
    measured = Measured(
        device=leaves[0].device,
        dtype=leaves[0].dtype,
        shapes=shapes,
        values=compare.values(a, b),
        like_left_over_memory=any(map(_is_like_left_over_memory, leaves)),
    )
    if a is None or b is None:
        return Measure(of=measured)
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return Measure(size="gross", of=measured)
    relative = _relative_of_numbers(a, b)
    if relative is None:
        relative = _relative_of_sketches(pair, facts, paths[0], inputs=inputs)
    if relative is None:
        return Measure(of=measured)
    # how numbers of Python, and what has no type that is known, are rounded
    dtype = "float64" if a.dtype in ("", "unknown") else a.dtype
    # what is not finite has a size, and no number
    finite = relative if isfinite(relative) else None
    return Measure(size=size_of(relative, dtype), relative=finite, of=measured)


def _is_like_left_over_memory(leaf: Leaf) -> bool:
    """Return whether the norm or an element of a leaf is as memory holds it that nobody filled."""
    values = compare.numbers(leaf.norm) or []
    if leaf.dtype.startswith(("float", "bfloat")):
        values += compare.numbers(leaf.value) or []
    return any(value != 0 and not _TINY <= abs(value) <= _HUGE for value in values)


def _relative_of_numbers(a: Leaf, b: Leaf) -> float | None:
    """Return the relative difference of two leaves that are single numbers; None for others."""
    x, y = _number(a), _number(b)
    if x is None or y is None:
        return None
    first, second = (Sketched(value=[value], dtype=a.dtype) for value in (x, y))
    return relative_difference(first, second)


def _relative_of_sketches(
    pair: Pair, facts: tuple[Seen, Seen], path: str, *, inputs: bool
) -> float | None:
    """Return the relative difference of two tensors by their sketches in the trace files."""
    side = 0 if inputs else 1
    first = sketched(pair.first, facts[0])[side].get(path)
    second = sketched(pair.second, facts[1])[side].get(path)
    if first is None or second is None:
        return None
    return relative_difference(first, second)


def _number(leaf: Leaf) -> float | None:
    """Return the value of a leaf that is a single number; None for any other leaf."""
    if isinstance(leaf.value, list):
        return None
    return next(iter(compare.numbers(leaf.value) or ()), None)
