"""The curves of a check against those of a baseline: bits, tolerance, sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reprocheck.model import LOSS_SERIES, Series, Tolerance
from reprocheck.suite.curves import without_clocks
from reprocheck.suite.model import Difference, RankSeries
from reprocheck.verdict.series import align, column, differs, first_outside, first_unequal
from reprocheck.verdict.ulp import ulp_distance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Identity = tuple[int, str, str]
"""Rank, name and `by` of a series."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Apart:
    """Two series that differ: the first numbers (from 1) at which they do, and by how much."""

    first_bit: int | None
    beyond: int | None
    relative: float


def compare(
    curves: Sequence[RankSeries],
    baseline: Sequence[RankSeries],
    rtol: float = 1e-3,
    atol: float = 1e-3,
) -> tuple[Difference, ...]:
    """Return the series of a check that are not as in the baseline, in the order of the baseline.

    Values are beyond the tolerance as `numpy.allclose` has it, with b of the baseline: |a - b| >
    atol + rtol * |b|. A value that stands at another step or iteration than in the baseline, or
    that only one of the two has, differs and is beyond the tolerance. Series whose names say that
    they are a clock's (times, throughput, memory) are never compared. Of a series that was
    imported, the steps that the file has are compared, by the tolerance alone. From where on the
    runs of one of the two checks are themselves further apart than the tolerance, nothing is called
    beyond it.
    """
    tolerance = Tolerance(rtol=rtol, atol=atol)
    own = {one.identity: one for one in without_clocks(curves)}
    others = {one.identity: one for one in without_clocks(baseline)}
    shown = _shown((*others, *own))
    found = []
    for identity in dict.fromkeys((*others, *own)):
        difference = _difference(own.get(identity), others.get(identity), tolerance)
        if difference is not None:
            found.append(replace(difference, series=shown[identity], rank=identity[0]))
    return tuple(found)


def _shown(identities: Sequence[_Identity]) -> Mapping[_Identity, str]:
    """Return the name of each series in tables: with the tracker's where two have the same."""
    named = {(name, by) for _, name, by in identities}
    of_name = Counter(name for name, _ in named)
    shown = {}
    for rank, name, by in identities:
        shown[rank, name, by] = name
        if by and (of_name[name] > 1 or name == LOSS_SERIES):
            shown[rank, name, by] = f"{by}:{name}"
    return shown


def _difference(
    own: RankSeries | None, other: RankSeries | None, tolerance: Tolerance
) -> Difference | None:
    """Return how two series of the same name differ; None where they do not."""
    if other is None:
        return Difference(series="", new=True)
    if own is None:
        return Difference(series="", missing=True)
    if other.rounded:
        return _rounded(own, other.series, tolerance)
    return _recorded(own, other, tolerance)


def _recorded(own: RankSeries, other: RankSeries, tolerance: Tolerance) -> Difference | None:
    """Return two series that were recorded, value by value."""
    apart = _apart(own.series, other.series, tolerance)
    if apart.first_bit is None:
        return None
    first = apart.first_bit
    value, reference = own.series.value(first), other.series.value(first)
    return Difference(
        series="",
        first_bit=first,
        step=_step(own.series, other.series, first),
        ulp=_ulp(own.series, other.series, first),
        beyond=_steady(apart.beyond, own, other),
        relative=apart.relative,
        value=value,
        other=reference,
        loose=not (own.repeats and other.repeats),
    )


def _apart(own: Series, other: Series, tolerance: Tolerance) -> _Apart:
    unequal = first_unequal(own.numbers, other.numbers)
    outside = first_outside(own.numbers, other.numbers, tolerance)
    moved = _first_moved(own, other)
    both = align(own.numbers, other.numbers)
    return _Apart(
        first_bit=_first(unequal.iteration if unequal else None, moved),
        beyond=_first(outside.iteration if outside else None, moved),
        relative=_relative(both.values, both.reference),
    )


def _steady(beyond: int | None, own: RankSeries, other: RankSeries) -> int | None:
    """Return a value that is beyond the tolerance, if the runs of both checks agree that far."""
    last = _first(own.steady, other.steady)
    if beyond is None or last is None or beyond <= last:
        return beyond
    return None


def _first(*numbers: int | None) -> int | None:
    """Return the smallest of the numbers that are there."""
    return min((number for number in numbers if number is not None), default=None)


def _first_moved(own: Series, other: Series) -> int | None:
    """Return the first value (from 1) that stands at another step or iteration than in the
    baseline.
    """
    import numpy as np

    common = min(len(own), len(other))
    steps, other_steps = np.asarray(own.steps)[:common], np.asarray(other.steps)[:common]
    both_without = np.isnan(steps) & np.isnan(other_steps)
    same = (steps == other_steps) | both_without
    same &= np.asarray(own.iterations)[:common] == np.asarray(other.iterations)[:common]
    if same.all():
        return None
    return int(np.argmin(same)) + 1


def _step(own: Series, other: Series, number: int) -> float:
    """Return where a value stands, in the longer of the two: the tracker's step, else the
    iteration.
    """
    longer = max(other, own, key=len)
    step = longer.step(number)
    if step is None:
        return float(longer.iterations[number - 1])
    return step


def _ulp(own: Series, other: Series, number: int) -> int | None:
    """Return how many values of their dtype lie between two values; None where that cannot be
    said.
    """
    value, reference = own.value(number), other.value(number)
    if value is None or reference is None:
        return None
    dtype = own.numbers.dtype(number - 1)
    if dtype != other.numbers.dtype(number - 1):
        return None
    return ulp_distance(value, reference, dtype)


def _relative(values: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Return the largest |a - b| / |b| of the values that are finite in both; 1 where b is 0 and a
    is not.
    """
    import numpy as np

    finite = np.isfinite(values) & np.isfinite(reference)
    a, b = values[finite], reference[finite]
    size = np.where(b == 0, np.abs(a), np.abs(b))
    size[size == 0] = 1.0
    with np.errstate(over="ignore"):
        shares = np.abs(a - b) / size
    return min(float(np.max(shares, initial=0.0)), float(np.finfo(np.float64).max))


def _rounded(own: RankSeries, other: Series, tolerance: Tolerance) -> Difference | None:
    """Return a series and what a file of another program says of it, at the steps of the file.

    Of several values at a step the last counts. A step that the check did not come to is beyond the
    tolerance.
    """
    import numpy as np

    places = steps_of(own.series)
    at = dict(zip(places, own.series.numbers.values, strict=True))
    loose = set(places) - set(places[: own.steady])
    steps = steps_of(other)
    values = np.array([at.get(step, np.nan) for step in steps])
    reference = column(other.numbers.values, "float64")
    outside = np.flatnonzero(differs(values, reference, tolerance))
    beyond = [int(place) for place in outside if steps[place] not in loose]
    if not beyond:
        return None
    first = beyond[0]
    return Difference(
        series="",
        step=steps[first],
        beyond=first + 1,
        relative=_relative(values, reference),
        value=at.get(steps[first]),
        other=float(reference[first]),
    )


def steps_of(series: Series) -> list[float]:
    """Return where each value stands: the tracker's step, else the iteration."""
    import numpy as np

    steps, iterations = np.asarray(series.steps), np.asarray(series.iterations, dtype=np.float64)
    found: list[float] = np.where(np.isnan(steps), iterations, steps).tolist()
    return found
