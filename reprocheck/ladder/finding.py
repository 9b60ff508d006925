"""What is found out of one rung of one rank, and the measures that go with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step
from reprocheck.ladder.facts import place_of
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
    """An operator that makes a difference itself: its call in run 1, and those of its inputs that
    are memory which nothing has filled.
    """

    seen: Seen
    unfilled: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding(Rung):
    """The first difference on a rung of one rank.

    `number` is its step in the merged order, -1 for what was there before the first iteration.
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
        """Order of execution; on one step, the order of the ladder."""
        return self.number, RUNGS.index(self.rung)

    @property
    def when(self) -> tuple[int, int]:
        """Its iteration, 0 before the first, and its rung: what is known of the order across
        ranks.
        """
        return self.iteration or 0, RUNGS.index(self.rung)


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """How far two leaves are apart, and what they are."""

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
    """Return the finding that a fact of a pair is not the same on a rung; `place` where it is not
    that of the fact, `line` as `file:line`.
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
    """Return the step of a finding in its pair, also of what was there before the first
    iteration.
    """
    if finding.number >= 0:
        return finding.number
    steps = (one.step.number for one in pair.differences if one.rung == finding.rung)
    return next(steps, finding.number)


_INPUTS, _OUTPUTS = 0, 1
"""The sides of a fact: what went in, what came out."""


def measure(pair: Pair, difference: Difference, *, inputs: bool = False) -> Measure:
    """Return size and kind of the first leaf that differs, among what came out or what went in."""
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
    """Return the norm of a leaf, and the sizes of its elements where they are known."""
    values: list[float] = []
    if leaf.dtype.startswith(("float", "bfloat")):
        values = compare.numbers(leaf.value) or []
    norm = compare.numbers(leaf.norm) or []
    return [*norm, *map(abs, values)]


def _number(leaf: Leaf) -> float | None:
    """Return the number that a leaf is; None where it is something else."""
    if isinstance(leaf.value, list):
        return None
    return next(iter(compare.numbers(leaf.value) or ()), None)
