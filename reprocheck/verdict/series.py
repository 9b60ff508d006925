"""Compare two whole loss series.

The first iteration that differs in any bit, and the first outside the tolerance.

Vectorised with numpy.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprocheck.model import LossSeries, Tolerance
from reprocheck.verdict import large_numbers
from reprocheck.verdict.large_numbers import largest_distance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Aligned:
    """The losses of a rank in a run and in run 1, as far as they can be paired.

    Up to the first iteration with unequal numbers of losses.

    values      losses of the run, float64
    reference   losses of run 1, float64
    same_dtype  whether both losses were computed in the same dtype, one bool for each loss
    ends        number of losses up to the end of each shared iteration, int64
    breaks_at   the first iteration, from 1, that has another number of losses or exists in one run
                only; None if there is none
    """

    values: NDArray[np.float64]
    reference: NDArray[np.float64]
    same_dtype: NDArray[np.bool_]
    ends: NDArray[np.int64]
    breaks_at: int | None

    def iteration(self, index: int) -> int:
        """Return the iteration (from 1) that holds the loss at `index`."""
        return int(self.ends.searchsorted(index, side="right")) + 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Unequal:
    """The first iteration that is not equal in every bit.

    iteration  the iteration, from 1
    ulp        the largest distance in that iteration in units in the last place; None if it cannot
               be said
    dtype      the dtype in which `ulp` is counted
    ends       whether the only difference is that one series ends before this iteration
    """

    iteration: int
    ulp: int | None
    dtype: str | None
    ends: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Outside:
    """The first loss outside the tolerance; its values are None if the numbers of losses differ."""

    iteration: int
    reference: float | None
    value: float | None


def column(values: array[Any], dtype: str) -> NDArray[Any]:
    """Return a column of a LossSeries as a numpy array, without a copy."""
    import numpy as np

    # A buffer of no bytes is an error to numpy.
    if not values:
        return np.empty(0, dtype=dtype)
    return np.frombuffer(values, dtype=dtype)


def align(series: LossSeries, reference: LossSeries) -> Aligned:
    """Return the losses of both series up to the first iteration with unequal numbers of losses."""
    import numpy as np

    ends, reference_ends = column(series.ends, "int64"), column(reference.ends, "int64")
    common, longest = sorted((len(ends), len(reference_ends)))
    different = np.flatnonzero(ends[:common] != reference_ends[:common])
    good = int(next(iter(different), common))
    count = series.until(good)
    breaks_at = None
    if good < longest:
        breaks_at = good + 1
    codes = column(series.dtype_of, "uint8")[:count]
    reference_codes = column(reference.dtype_of, "uint8")[:count]
    if series.dtypes != reference.dtypes:
        names = {name: code for code, name in enumerate(reference.dtypes)}
        table = np.array([names.get(name, -1) for name in series.dtypes], dtype=np.int16)
        codes = table[codes]
    return Aligned(
        values=column(series.values, "float64")[:count],
        reference=column(reference.values, "float64")[:count],
        same_dtype=np.asarray(codes == reference_codes),
        ends=ends[:good],
        breaks_at=breaks_at,
    )


def first_unequal(series: LossSeries, reference: LossSeries) -> Unequal | None:
    """Return the first iteration in which value, sign of zero or dtype differ.

    All NaN count as equal.
    """
    import numpy as np

    pair = align(series, reference)
    equal = (pair.values.view(np.int64) == pair.reference.view(np.int64)) | (
        np.isnan(pair.values) & np.isnan(pair.reference)
    )
    equal &= pair.same_dtype
    for place in large_numbers.places(series, reference, len(equal)):
        equal[place] &= series.exact.get(place) == reference.exact.get(place)
    if equal.all():
        if pair.breaks_at is None:
            return None
        ends = pair.breaks_at > min(len(series), len(reference))
        return Unequal(iteration=pair.breaks_at, ulp=None, dtype=None, ends=ends)
    iteration = pair.iteration(int(np.argmin(equal)))
    start, end = series.span(iteration)
    indexes = np.flatnonzero(~equal[start:end]) + start
    dtypes = {series.dtype(int(index)) for index in indexes}
    if len(dtypes) > 1 or not pair.same_dtype[indexes].all():
        return Unequal(iteration=iteration, ulp=None, dtype=None)
    dtype = dtypes.pop()
    largest = largest_distance(pair.values[indexes], pair.reference[indexes], dtype)
    return Unequal(iteration=iteration, ulp=largest, dtype=dtype)


def first_outside(
    series: LossSeries, reference: LossSeries, tolerance: Tolerance
) -> Outside | None:
    """Return the first loss that is outside the tolerance, or has no equal partner.

    It is finite in one run only, or missing in one run.
    """
    import numpy as np

    pair = align(series, reference)
    outside = differs(pair.values, pair.reference, tolerance)
    for place in large_numbers.places(series, reference, len(outside)):
        outside[place] |= large_numbers.outside(series, place, reference, place, tolerance)
    if outside.any():
        index = int(np.argmax(outside))
        return Outside(
            iteration=pair.iteration(index),
            reference=float(pair.reference[index]),
            value=float(pair.values[index]),
        )
    if pair.breaks_at is None:
        return None
    return Outside(iteration=pair.breaks_at, reference=None, value=None)


def differs(
    values: NDArray[np.float64], reference: NDArray[np.float64], tolerance: Tolerance
) -> NDArray[np.bool_]:
    """Return an array: whether |a - b| > atol + rtol * |b|, or only one loss is finite.

    False if both losses are not finite.
    """
    import numpy as np

    finite, reference_finite = np.isfinite(values), np.isfinite(reference)
    with np.errstate(over="ignore", invalid="ignore"):
        within = np.abs(values - reference) <= tolerance.atol + tolerance.rtol * np.abs(reference)
    return np.asarray((finite & reference_finite & ~within) | (finite != reference_finite))
