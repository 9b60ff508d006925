"""The first difference on one rung of one rank, with its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
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


_INPUTS, _OUTPUTS = 0, 1
"""The sides of a fact: what went in, what came out."""


def measure(pair: Pair, difference: Difference, *, inputs: bool = False) -> Measure:
    """Return size and kind of the first differing output; with `inputs`, of the first differing
    input.
    """
    side = {True: _INPUTS, False: _OUTPUTS}[inputs]
    paths = (difference.inputs, difference.outputs)[side]
    facts = difference.step.facts
    if not paths or facts is None:
        return Measure()
    path = paths[0]
    a, b = (compare.leaf((seen.inputs, seen.outputs)[side], path) for seen in facts)
    leaves = list(filter(None, (a, b)))
    norms = chain.from_iterable(map(_norms, leaves))
    shapes = None
    # only tensors have a type
    if a is not None and b is not None and a.dtype and a.shape != b.shape:
        shapes = tuple(a.shape or ()), tuple(b.shape or ())
    measured = Measured(
        device=leaves[0].device,
        dtype=leaves[0].dtype,
        shapes=shapes,
        values=compare.values(a, b),
        like_left_over_memory=any(norm != 0 and not _TINY <= norm <= _HUGE for norm in norms),
    )
    if a is None or b is None:
        return Measure(of=measured)
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return Measure(size="gross", of=measured)
    first, second = facts
    sketches: tuple[Sketched | None, Sketched | None]
    x, y = _number(a), _number(b)
    if x is not None and y is not None:
        sketches = Sketched(value=[x], dtype=a.dtype), Sketched(value=[y], dtype=b.dtype)
    else:
        # from what the trace files hold
        of_first = sketched(pair.first, first)[side].get(path)
        sketches = of_first, sketched(pair.second, second)[side].get(path)
    relative = None
    if sketches[0] is not None and sketches[1] is not None:
        relative = relative_difference(sketches[0], sketches[1])
    if relative is None:
        return Measure(of=measured)
    # how numbers of Python, and what has no type that is known, are rounded
    size = size_of(relative, {"": "float64", "unknown": "float64"}.get(a.dtype, a.dtype))
    # what is not finite has a size, and no number
    return Measure(size=size, relative=relative if isfinite(relative) else None, of=measured)


def _norms(leaf: Leaf) -> list[float]:
    """Return the norm of a leaf and the magnitudes of its elements, as far as they are known."""
    values: list[float] = []
    if leaf.dtype.startswith(("float", "bfloat")):
        values = compare.numbers(leaf.value) or []
    norm = compare.numbers(leaf.norm) or []
    return [*norm, *map(abs, values)]


def _number(leaf: Leaf) -> float | None:
    """Return the value of a leaf that is a single number; None for any other leaf."""
    if isinstance(leaf.value, list):
        return None
    return next(iter(compare.numbers(leaf.value) or ()), None)
