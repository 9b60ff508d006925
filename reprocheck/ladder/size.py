"""How far two tensors are apart, from their fingerprints alone: equal or not by the exact hash, the
size of the difference by the sketch.

docs/reference/fingerprints.md describes hash, sketch and what is called rounding-level.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from reprocheck.model import Size

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

RESOLUTION = 4e-6
"""What rounding can make of float32, and what a sketch of float32 sums can tell: 32 steps of
float32.
"""

EPSILON = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float8_e4m3": 2.0**-3,
    "float8_e5m2": 2.0**-2,
    "float8_e8m0": 1.0,
    "float4_e2m1": 0.5,
}
"""Steps of the types that are coarser, by the beginning of their names."""
HUGE = 1e30
"""Elements of this size are in no sketch."""
_VECTORS = 4
_SKETCH_BYTES = 64 * 4
"""64 numbers of float32."""


class Fingerprint(Protocol):
    """A tensor as the trace knows it."""

    @property
    def hash(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...] | None: ...
    @property
    def norm(self) -> float | str | None: ...
    @property
    def value(self) -> Any: ...
    @property
    def sketch(self) -> str: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What two fingerprints say of two tensors.

    comparable  False where they were made by different algorithms, or one tensor could not be read:
                then nothing is known
    equal       whether the bytes, the dtype and the shape are the same; None where that is not
                known
    relative    ||a - b|| / ||b||, estimated; infinite where the one is not finite and the other is;
                0.0 where the hashes differ and the difference is too small for a sketch; None where
                it cannot be estimated
    size        rounding-level or gross; None where they are equal or nothing is known
    """

    comparable: bool
    equal: bool | None = None
    relative: float | None = None
    size: Size | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """A fingerprint out of the object that stands in a trace: see `recorded`."""

    hash: str = ""
    algorithm: str = ""
    dtype: str = ""
    shape: tuple[int, ...] | None = None
    norm: float | str | None = None
    value: Any = None
    sketch: str = ""


def recorded(fields: Mapping[str, Any]) -> Recorded:
    """Return the fingerprint written as `fields` in a trace."""
    return Recorded(
        hash=fields.get("h", ""),
        algorithm=fields.get("a", ""),
        dtype=fields.get("d", ""),
        shape=tuple(fields["s"]) if "s" in fields else None,
        norm=fields.get("z"),
        value=fields.get("v"),
        sketch=fields.get("k", ""),
    )


def difference(a: Fingerprint, b: Fingerprint) -> Difference:
    """Compare two fingerprints."""
    unread = "" in (a.hash, b.hash)
    if unread or a.algorithm != b.algorithm:
        return Difference(comparable=False)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return Difference(comparable=True, equal=False, size="gross")
    if a.hash == b.hash:
        return Difference(comparable=True, equal=True, relative=0.0)
    relative = relative_difference(a, b)
    return Difference(
        comparable=True, equal=False, relative=relative, size=size_of(relative, a.dtype)
    )


def relative_difference(a: Fingerprint, b: Fingerprint) -> float | None:
    """Return ||a - b|| / ||b|| of two tensors that differ.

    It is exact where the trace holds their values, else estimated from their sketches.

    The norm of `a` is taken where `b` is all zeros. Infinite where only one of them has an element
    that is not finite, or where the difference lies among such elements alone; None where nothing
    can be said.
    """
    first, second = _elements(a), _elements(b)
    if first and len(first) == len(second):
        return _between_elements(first, second)
    if a.shape != b.shape:
        return None
    one, other = _estimated(a), _estimated(b)
    if one is None or other is None:
        return None
    return _between_sketches(one, other)


def rounding_level(dtype: str) -> float:
    """Return the largest relative difference that rounding explains: 4e-6, for types coarser than
    float32 two of their steps, for others none.
    """
    if not dtype.startswith(("float", "bfloat", "complex")):
        return 0.0
    return next((2 * step for name, step in EPSILON.items() if dtype.startswith(name)), RESOLUTION)


def size_of(relative: float | None, dtype: str) -> Size | None:
    """Rounding-level or gross: integers and truth values are not rounded, so any difference of
    theirs is gross.
    """
    level = rounding_level(dtype)
    if not level:
        return "gross"
    if relative is None:
        return None
    if relative > level:
        return "gross"
    return "rounding"


def _elements(side: Fingerprint) -> list[float]:
    """Return the values of a small tensor; none where they are not known."""
    values = side.value
    if not isinstance(values, (list, tuple)):
        return []
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        return []


def _between_elements(x: list[float], y: list[float]) -> float:
    # by their names, as nan is not equal to itself
    unequal = [(p, q) for p, q in zip(x, y, strict=True) if repr(p) != repr(q)]
    if not all(map(math.isfinite, chain(*unequal))):
        return math.inf
    distance = math.hypot(*(p - q for p, q in unequal))
    of_x, of_y = (math.hypot(*filter(math.isfinite, side)) for side in (x, y))
    return _share(distance, of_y or of_x)


def _share(distance: float, scale: float) -> float:
    """Return a distance as a share of a scale: 0 for tensors without one, of which only the
    signs of zeros differ.
    """
    if not scale:
        return 0.0
    return distance / scale


@dataclass(frozen=True, slots=True)
class _Estimated:
    """A tensor by its norm and its sketch."""

    norm: float
    sketch: NDArray[float64]

    @property
    def length(self) -> float:
        """Its norm without the elements that are in no sketch."""
        return _length(self.sketch)


def _estimated(side: Fingerprint) -> _Estimated | None:
    """None where the norm or the sketch is not known."""
    import numpy as np

    if side.norm is None:
        return None
    try:
        norm = float(side.norm)
        data = base64.b64decode(side.sketch, validate=True)
    except ValueError:
        return None
    if len(data) != _SKETCH_BYTES:
        return None
    return _Estimated(norm, np.frombuffer(data, "<f4").astype(np.float64))


def _between_sketches(x: _Estimated, y: _Estimated) -> float:
    if math.isfinite(x.norm) != math.isfinite(y.norm):
        return math.inf
    distance = _length(x.sketch - y.sketch)
    all_in_sketch = max(x.norm, y.norm) < HUGE
    if not all_in_sketch:
        # where the sketches agree, the others differ
        return _share(distance, y.length or x.length) or math.inf
    if not math.isfinite(distance):
        return math.inf
    return _share(distance, y.norm or x.norm)


def _length(numbers: NDArray[float64]) -> float:
    """Return the length of the tensor whose sketch this is, estimated."""
    return math.sqrt(float(numbers @ numbers) / _VECTORS)
