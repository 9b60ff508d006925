"""Measure how far two tensors are apart, by the sketches in their fingerprints.

docs/reference/fingerprints.md describes hashes, sketches and the rounding level.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from reprocheck.model import Size
from reprocheck.trace.deep import Sketched

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


def relative_difference(a: Sketched, b: Sketched) -> float | None:
    """Return ||a - b|| / ||b|| of two tensors that differ.

    Exact if the trace holds their values, else estimated from sketches.

    If `b` is all zeros, the norm of `a` is used. Infinite if only one tensor has an element that is
    not finite, or if only such elements differ. None if it cannot be said, as where all elements
    that differ are among those of a long tensor that its sketch does not hold.
    """
    first, second = _elements(a), _elements(b)
    if first and len(first) == len(second):
        return _relative_of_elements(first, second)
    if a.shape != b.shape:
        return None
    one, other = _estimated(a), _estimated(b)
    if one is None or other is None:
        return None
    if math.isfinite(one.norm) != math.isfinite(other.norm):
        return math.inf
    distance = _length(one.sketch - other.sketch)
    if a.share != b.share or (a.share > 1 and not distance):
        return None  # the elements that differ are in no sketch
    all_in_sketch = max(one.norm, other.norm) < HUGE
    if not all_in_sketch:
        # where the sketches agree, the others differ
        return _share(distance, other.length or one.length) or math.inf
    if not math.isfinite(distance):
        return math.inf
    return _share(distance, other.norm or one.norm)


def _relative_of_elements(a: Sequence[float], b: Sequence[float]) -> float:
    """Return ||a - b|| / ||b||; infinite if a number that differs is not finite."""
    # by their names, as nan is not equal to itself
    unequal = [(x, y) for x, y in zip(a, b, strict=True) if repr(x) != repr(y)]
    if not all(map(math.isfinite, chain(*unequal))):
        return math.inf
    distance = math.hypot(*(x - y for x, y in unequal))
    norm = math.hypot(*filter(math.isfinite, b))
    return _share(distance, norm or math.hypot(*filter(math.isfinite, a)))


def rounding_level(dtype: str) -> float:
    """Return the largest relative difference that rounding explains.

    4e-6 for float32 and finer dtypes, two steps for coarser dtypes, and 0 for integers.
    """
    if not dtype.startswith(("float", "bfloat", "complex")):
        return 0.0
    return next((2 * step for name, step in EPSILON.items() if dtype.startswith(name)), RESOLUTION)


def size_of(relative: float | None, dtype: str) -> Size | None:
    """Return whether a relative difference is of rounding level or gross.

    Any difference of integers or truth values is gross, because these are not rounded.
    """
    level = rounding_level(dtype)
    if not level:
        return "gross"
    if relative is None:
        return None
    if relative > level:
        return "gross"
    return "rounding"


def _elements(side: Sketched) -> list[float]:
    """Return the elements of a small tensor; empty if they are not known."""
    values = side.value
    if not isinstance(values, (list, tuple)):
        return []
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        return []


def _share(distance: float, scale: float) -> float:
    """Return a distance divided by a scale.

    0 if the scale is 0, because then only signs of zeros differ.
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
        """The norm of the tensor without the elements that no sketch holds (those above 1e30)."""
        return _length(self.sketch)


def _estimated(side: Sketched) -> _Estimated | None:
    """Return norm and sketch of a tensor; None if either is not known."""
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


def _length(numbers: NDArray[float64]) -> float:
    """Return the estimated norm of the tensor whose sketch is given."""
    return math.sqrt(float(numbers @ numbers) / _VECTORS)
