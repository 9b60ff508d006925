"""Compare losses that a double cannot hold (large integers, `longdouble`) as exact fractions.

Such losses are rare, so nothing is vectorised here.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from reprocheck.model import LossSeries, Tolerance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def places(
    series: LossSeries, reference: LossSeries, count: int, start: int = 0, reference_start: int = 0
) -> list[int]:
    """Return the indexes of losses that a double cannot hold in either run.

    They are relative to both starts.

    count            number of losses to look at
    start            index of the first loss in `series`
    reference_start  index of the first loss in `reference`
    """
    own = {place - start for place in series.exact}
    others = {place - reference_start for place in reference.exact}
    return sorted(place for place in own | others if 0 <= place < count)


def value(series: LossSeries, index: int) -> Fraction | None:
    """Return a loss as an exact fraction; None if it is not finite."""
    numerator, _, denominator = series.exact.get(index, "").partition("/")
    try:
        if denominator:
            return Fraction(int(numerator, 16), int(denominator, 16))
        return Fraction(series.values[index])
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def difference(
    series: LossSeries, index: int, reference: LossSeries, reference_index: int
) -> Fraction | None:
    """Return the exact distance of two losses; None if either is not finite."""
    a, b = value(series, index), value(reference, reference_index)
    if a is None or b is None:
        return None
    return abs(a - b)


def outside(
    series: LossSeries,
    index: int,
    reference: LossSeries,
    reference_index: int,
    tolerance: Tolerance,
) -> bool:
    """Return whether the distance of two losses exceeds the tolerance."""
    apart = difference(series, index, reference, reference_index)
    b = value(reference, reference_index)
    if apart is None or b is None:
        return False
    return apart > Fraction(tolerance.atol) + Fraction(tolerance.rtol) * abs(b)


def shown(series: LossSeries, index: int) -> str:
    """Return a loss as text: an integer in full, any other number with 25 digits."""
    number = value(series, index)
    if number is None:
        return repr(series.values[index])
    if number.denominator == 1:
        return str(number.numerator)
    with localcontext() as context:
        context.prec = 25
        return str(Decimal(number.numerator) / Decimal(number.denominator))


_HELD = {
    "float64": ("float64", "uint64", 0),
    "float32": ("float32", "uint32", 0),
    "float16": ("float16", "uint16", 0),
    "bfloat16": ("float32", "uint32", 16),
    "float8_e5m2": ("float16", "uint16", 8),
}
"""Dtype -> the one of numpy that holds its values, that of the bits of these, and how many of them
are always zero.
"""
KNOWN = (*_HELD, "float8_e4m3fn")


def ulp_distance(a: float, b: float, dtype: str) -> int | None:
    """Return how many representable values of `dtype` lie from `a` to `b`; 0 between -0.0 and 0.0.

    `a` and `b` are values of that dtype, held in doubles. None for a dtype that is not in `KNOWN`,
    and for NaN and infinity.
    """
    import numpy as np

    return largest_distance(np.array([a]), np.array([b]), dtype)


def largest_distance(a: NDArray[np.float64], b: NDArray[np.float64], dtype: str) -> int | None:
    """Return the largest ULP distance between the elements of two arrays of one shape.

    None if an element is not finite, or the dtype is not known.
    """
    import numpy as np

    dtype = dtype.rpartition(".")[2].lower()
    finite = np.isfinite(a) & np.isfinite(b)
    if dtype not in KNOWN or not finite.all():
        return None
    place_a, place_b = _place(a, dtype), _place(b, dtype)
    same_sign = np.signbit(a) == np.signbit(b)
    apart = np.maximum(place_a, place_b) - np.minimum(place_a, place_b)
    distances = np.where(same_sign, apart, place_a + place_b)
    return int(distances.max())


def _place(values: NDArray[np.float64], dtype: str) -> NDArray[np.uint64]:
    """Return how many values of the dtype lie between 0 and |value|.

    The bits without the sign.
    """
    import numpy as np

    size = np.abs(values)
    if dtype not in _HELD:
        return np.asarray(_place_e4m3(size), dtype=np.uint64)
    holds, bits, zeros = _HELD[dtype]
    with np.errstate(over="ignore", under="ignore"):
        holding = size.astype(holds, copy=False)
    places = holding.view(bits).astype(np.uint64)
    return np.asarray(places >> np.uint64(zeros))


def _place_e4m3(size: NDArray[np.float64]) -> NDArray[Any]:
    """Return the places of values with four bits of exponent (bias 7) and three of fraction.

    Steps of 2^-9 up to 2^-6, then eight steps for each power of two.
    """
    import numpy as np

    _, exponent = np.frexp(size)
    exponent = np.where(size == 0, -6, np.maximum(exponent - 1, -6))
    return np.asarray(np.rint(np.ldexp(size, 3 - exponent)).astype(np.int64) + 8 * (exponent + 6))
