"""Distance of two losses in units in the last place of the dtype that they were computed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KNOWN = ("float64", "float32", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn")


def ulp_distance(a: float, b: float, dtype: str) -> int | None:
    """How many values of `dtype` lie from `a` to `b`; 0 where they are equal, and between -0.0 and
    0.0.

    `a` and `b` are values of that dtype, held in doubles. None for a dtype that is not in `KNOWN`,
    and for NaN and infinity.
    """
    import numpy as np

    distances = ulp_distances(np.array([a]), np.array([b]), dtype)
    return None if distances is None else int(distances[0])


def ulp_distances(
    a: NDArray[np.float64], b: NDArray[np.float64], dtype: str
) -> NDArray[np.uint64] | None:
    """The same for two arrays of one shape; None where a pair is not finite or the dtype is
    unknown.
    """
    import numpy as np

    dtype = dtype.rpartition(".")[2].lower()
    if dtype not in KNOWN or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    place_a, place_b = _place(a, dtype), _place(b, dtype)
    same_sign = np.signbit(a) == np.signbit(b)
    apart = np.maximum(place_a, place_b) - np.minimum(place_a, place_b)
    return np.asarray(np.where(same_sign, apart, place_a + place_b), dtype=np.uint64)


def _place(values: NDArray[np.float64], dtype: str) -> NDArray[np.uint64]:
    """How many values of the dtype lie between zero and |value|: the bits without the sign."""
    import numpy as np

    size = np.abs(values)
    with np.errstate(over="ignore", under="ignore"):
        if dtype == "float64":
            places: NDArray[Any] = size.view(np.uint64)
        elif dtype == "float32":
            places = size.astype(np.float32).view(np.uint32)
        elif dtype == "bfloat16":
            places = size.astype(np.float32).view(np.uint32) >> np.uint32(16)
        elif dtype == "float16":
            places = size.astype(np.float16).view(np.uint16)
        elif dtype == "float8_e5m2":
            places = size.astype(np.float16).view(np.uint16) >> np.uint16(8)
        else:
            places = _place_e4m3(size)
    return np.asarray(places, dtype=np.uint64)


def _place_e4m3(size: NDArray[np.float64]) -> NDArray[Any]:
    """Four bits of exponent (bias 7), three of fraction: steps of 2^-9 up to 2^-6, then eight steps
    for each power of two.
    """
    import numpy as np

    _, exponent = np.frexp(size)
    exponent = np.where(size == 0, -6, np.maximum(exponent - 1, -6))
    return np.asarray(np.rint(np.ldexp(size, 3 - exponent)).astype(np.int64) + 8 * (exponent + 6))
