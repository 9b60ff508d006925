"""What is said of one rung of one rank, and the measures that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from reprocheck.ladder import compare, words
from reprocheck.ladder.align import Step
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.ladder.size import relative_difference, size_of
from reprocheck.model import RUNGS, RungName, Size, SourceLine, TracePosition
from reprocheck.model.evidence import Evidence, Measured, OperatorDiffers
from reprocheck.trace.deep import Leaf, Sketched, sketched

_HUGE, _TINY = 1e18, 1e-30
"""Norms beyond them are those of memory that nobody filled, rather than of a weight."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """The first difference on a rung.

    `number` is its step in the merged order, -1 for what was there before the first iteration.
    """

    rung: RungName
    number: int
    iteration: int | None
    rank: int
    place: str
    detail: str
    sentence: str = ""
    head: str = ""
    """The sentence without what it says of the culprit, for where an operator can be named."""
    culprit: str | None = None
    size: Size | None = None
    relative_difference: float | None = None
    source: SourceLine | None = None
    evidence: Evidence
    measured: Measured = field(default_factory=Measured)
    operator: OperatorDiffers | None = None
    operations: tuple[str, ...] = ()
    inside: str = ""
    unused_generators: tuple[str, ...] = ()
    iterations: Mapping[int, int | None] = field(default_factory=dict)
    recorded_at: TracePosition | None = None

    @property
    def order(self) -> tuple[int, int]:
        """Order of execution; on one step, the order of the ladder."""
        return self.number, RUNGS.index(self.rung)


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
    measured: Measure | None = None,
    *,
    evidence: Evidence,
    detail: str,
    sentence: str,
    head: str = "",
    place: str = "",
    culprit: str | None = None,
    line: str = "",
    operations: Sequence[str] = (),
    inside: str = "",
) -> Finding:
    """The finding that a fact of a pair is not the same on a rung; `place` where it is not that of
    the fact, `line` as `file:line`.
    """
    seen, measured = step.seen, measured or Measure()
    named = (*operations, seen.class_) if seen.class_ else tuple(operations)
    return Finding(
        rung=rung,
        number=step.number,
        iteration=seen.iteration or None,
        rank=pair.rank,
        place=place or words.place(seen.place, seen.class_),
        culprit=culprit,
        detail=detail,
        sentence=sentence,
        head=head,
        size=measured.size,
        relative_difference=measured.relative,
        source=source(line),
        evidence=evidence,
        measured=measured.of,
        operations=named,
        inside=inside,
    )


def source(line: str) -> SourceLine | None:
    """`file:line` as the model has it."""
    file, _, number = line.rpartition(":")
    return SourceLine(file=file, line=int(number)) if file and number.isdigit() else None


def measure(pair: Pair, difference: Difference, *, inputs: bool = False) -> Measure:
    """Size and kind of the first leaf that differs, among what came out or what went in."""
    paths = difference.inputs if inputs else difference.outputs
    first, second = difference.step.first, difference.step.second
    if not paths or first is None or second is None:
        return Measure()
    path = paths[0]
    sides = (first.inputs, second.inputs) if inputs else (first.outputs, second.outputs)
    a, b = compare.leaf(sides[0], path), compare.leaf(sides[1], path)
    if a is None or b is None:
        return Measure(of=_measured(a, b))
    if a.shape != b.shape or a.dtype != b.dtype:
        return Measure(size="gross", of=_measured(a, b))
    relative = _apart(pair, difference, path, inputs, a, b)
    return Measure(
        size=_size(relative, a),
        relative=relative if relative is not None and isfinite(relative) else None,
        of=_measured(a, b),
    )


def _measured(a: Leaf | None, b: Leaf | None) -> Measured:
    one = a or b
    assert one is not None
    norms = [norm for leaf in (a, b) if leaf is not None for norm in _norms(leaf)]
    return Measured(
        device=one.device,
        dtype=one.dtype,
        shapes=_shapes(a, b),
        values=compare.values(a, b),
        like_left_over_memory=any(map(_is_left_over, norms)),
    )


def _shapes(a: Leaf | None, b: Leaf | None) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Both shapes, where the leaves are tensors that are not of one shape."""
    if a is None or b is None or not a.dtype or a.shape == b.shape:
        return None
    return tuple(a.shape or ()), tuple(b.shape or ())


def _is_left_over(norm: float) -> bool:
    """Whether a norm is none of a weight that was filled."""
    return not isfinite(norm) or norm > _HUGE or 0 < norm < _TINY


def _norms(leaf: Leaf) -> list[float]:
    """The norm of a leaf, and the sizes of its elements where they are known."""
    values = compare.numbers(leaf.value) or [] if leaf.dtype.startswith(("float", "bfloat")) else []
    norm = compare.numbers(leaf.norm) or []
    return [*norm, *(abs(value) for value in values)]


def _apart(
    pair: Pair, difference: Difference, path: str, inputs: bool, a: Leaf, b: Leaf
) -> float | None:
    """Relative difference of two leaves: exact for numbers, else from what the trace holds of them,
    sketches included.
    """
    first, second = difference.step.first, difference.step.second
    x, y = _number(a), _number(b)
    if x is not None and y is not None:
        one, other = Sketched(value=[x], dtype=a.dtype), Sketched(value=[y], dtype=b.dtype)
        return relative_difference(one, other)
    if first is None or second is None:
        return None
    side = 0 if inputs else 1
    whole, other_whole = (
        sketched(pair.first, first)[side].get(path),
        sketched(pair.second, second)[side].get(path),
    )
    return (
        relative_difference(whole, other_whole)
        if whole is not None and other_whole is not None
        else None
    )


def _number(leaf: Leaf) -> float | None:
    """The number that a leaf is; None where it is something else."""
    numbers = None if isinstance(leaf.value, list) else compare.numbers(leaf.value)
    return numbers[0] if numbers else None


def _size(relative: float | None, a: Leaf) -> Size | None:
    if relative is None:
        return None
    return size_of(relative, a.dtype if a.dtype not in ("", "unknown") else "float64")
