"""The curves of a check against those of a baseline: bits, tolerance, what is allowed."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from reprocheck.model import LOSS_SERIES, LossSeries, Series
from reprocheck.suite.curves import without_clocks
from reprocheck.suite.model import Allow, Baseline, Difference, Key, RankSeries
from reprocheck.suite.surface import distance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_Identity = tuple[int, str, str]
"""Rank, name and `by` of a series."""
_Tolerance = tuple[float, float]
"""rtol and atol."""


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
    own = {series.identity: series for series in without_clocks(curves)}
    others = {series.identity: series for series in without_clocks(baseline)}
    shown = _shown((*others, *own))
    found = []
    for identity in dict.fromkeys((*others, *own)):
        difference = _difference(own.get(identity), others.get(identity), (rtol, atol))
        if difference is not None:
            found.append(replace(difference, series=shown[identity], rank=identity[0]))
    return tuple(found)


def _shown(identities: Sequence[_Identity]) -> Mapping[_Identity, str]:
    """Return the display name of each series.

    It has the tracker's name if two series share a name.
    """
    named = {(name, by) for _, name, by in identities}
    of_name = Counter(name for name, _ in named)
    shown = {}
    for rank, name, by in identities:
        shown[rank, name, by] = name
        if by and (of_name[name] > 1 or name == LOSS_SERIES):
            shown[rank, name, by] = f"{by}:{name}"
    return shown


def _difference(
    own: RankSeries | None, other: RankSeries | None, tolerance: _Tolerance
) -> Difference | None:
    """Return how two series of the same name differ; None if they are equal."""
    if other is None:
        return Difference(series="", new=True)
    if own is None:
        return Difference(series="", missing=True)
    if other.rounded:
        return _rounded(own, other.series, tolerance)
    return _recorded(own, other, tolerance)


def _recorded(own: RankSeries, other: RankSeries, tolerance: _Tolerance) -> Difference | None:
    """Return how two series that were recorded differ, value by value."""
    import numpy as np

    series, reference = own.series, other.series
    apart = distance(series.numbers, reference.numbers, *tolerance)
    moved = _first_moved(series, reference)
    first = _first(apart.unequal, moved)
    if first is None:
        return None
    beyond = _first(apart.outside, moved)
    steady = _first(own.steady, other.steady)
    if beyond is not None and steady is not None and beyond > steady:
        beyond = None  # the runs of one of the checks are as far apart by then
    common = min(len(series), len(reference))
    values = np.asarray(series.numbers.values)[:common]
    return Difference(
        series="",
        first_bit=first,
        step=steps_of(max(reference, series, key=len))[first - 1],
        ulp=apart.ulp_at(first),
        beyond=beyond,
        relative=_relative(values, np.asarray(reference.numbers.values)[:common]),
        value=series.value(first),
        other=reference.value(first),
        loose=not (own.repeats and other.repeats),
    )


def _first(*numbers: int | None) -> int | None:
    """Return the smallest of the numbers that are not None."""
    return min((number for number in numbers if number is not None), default=None)


def _first_moved(own: Series, other: Series) -> int | None:
    """Return the first value (from 1) that stands at another place than in the baseline.

    A place is a step or an iteration.
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


def _relative(values: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Return the largest |a - b| / |b| over values finite in both; 1 if b is 0 and a is not."""
    import numpy as np

    finite = np.isfinite(values) & np.isfinite(reference)
    a, b = values[finite], reference[finite]
    size = np.where(b == 0, np.abs(a), np.abs(b))
    size[size == 0] = 1.0
    with np.errstate(over="ignore"):
        shares = np.abs(a - b) / size
    return min(float(np.max(shares, initial=0.0)), float(np.finfo(np.float64).max))


def _rounded(own: RankSeries, other: Series, tolerance: _Tolerance) -> Difference | None:
    """Return how a series differs from what a file of another program says of it.

    They are compared at the steps of the file.

    Of several values at a step the last counts. A step that the check did not come to is beyond the
    tolerance.
    """
    import numpy as np

    places = steps_of(own.series)
    at = dict(zip(places, own.series.numbers.values, strict=True))
    loose = set(places) - set(places[: own.steady])
    steps = steps_of(other)
    values = [at.get(step, math.nan) for step in steps]
    reference = other.numbers.values
    compared = [number for number, step in enumerate(steps) if step not in loose]
    apart = distance(
        _plain(values[number] for number in compared),
        _plain(reference[number] for number in compared),
        *tolerance,
    )
    if apart.outside is None:
        return None
    first = compared[apart.outside - 1]
    return Difference(
        series="",
        step=steps[first],
        beyond=first + 1,
        relative=_relative(np.array(values), np.asarray(reference)),
        value=at.get(steps[first]),
        other=reference[first],
    )


def _plain(values: Iterable[float]) -> LossSeries:
    column = array("d", values)
    count = len(column)
    return LossSeries(
        values=column,
        dtype_of=array("B", bytes(count)),
        dtypes=("float64",),
        ends=array("q", range(1, count + 1)),
    )


def steps_of(series: Series) -> list[float]:
    """Return the step of each value: the tracker's step, else the iteration."""
    import numpy as np

    steps, iterations = np.asarray(series.steps), np.asarray(series.iterations, dtype=np.float64)
    found: list[float] = np.where(np.isnan(steps), iterations, steps).tolist()
    return found


_NO_FLOOR = "no noise floor was recorded, so the tolerance holds"
_ROUNDED = "the imported curves have fewer digits, or steps, than a check, so the tolerance holds"


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowed:
    """Say how far a check may be from its baseline.

    asked     whether the target's own `allow` asks for this. If not, a series that the runs of one
              check do not repeat bitwise is compared by the tolerance in any case
    limits    series name -> how far it may be, relative, whatever holds for the others
    sentence  why this is not what the target asks for, or what holds if it asks for nothing; ""
              if it is what the target asks for
    """

    allow: Literal["bits", "tolerance"]
    asked: bool = False
    limits: Mapping[str, float] = field(default_factory=dict)
    sentence: str = ""

    def exceeds(self, difference: Difference) -> bool:
        """Return whether a series is further from the baseline than is allowed.

        False for a new series.
        """
        limit = self.limits.get(difference.series)
        if limit is not None and not difference.missing:
            return difference.relative > limit
        if difference.missing or difference.beyond is not None:
            return True
        if self.allow == "tolerance" or difference.first_bit is None:
            return False
        return self.asked or not difference.loose

    def exceeded(self, differences: Iterable[Difference]) -> tuple[Difference, ...]:
        """Return the series that are further from the baseline than is allowed."""
        return tuple(filter(self.exceeds, differences))


def allowed(asked: Allow | None, baseline: Baseline) -> Allowed:
    """Return how far a check may be from this baseline.

    `asked`: what the target asks for. Imported curves with rounded values are never compared
    bitwise.

    If the target asks for nothing: bitwise if the runs of the accepted check were equal bitwise,
    else the noise floor; the tolerance as long as no noise floor is recorded.
    """
    imported = not baseline.night
    if imported and not baseline.bitwise:
        return Allowed(allow="tolerance", asked=asked == "tolerance", sentence=_ROUNDED)
    if asked in ("bits", "tolerance"):
        return Allowed(allow=asked, asked=True)
    if asked == "noise-floor":
        return Allowed(allow="tolerance", sentence=_NO_FLOOR)
    if baseline.bitwise:
        return Allowed(allow="bits")
    return Allowed(
        allow="tolerance",
        sentence=f"the accepted check was not equal in every bit, and {_NO_FLOOR}",
    )


def allowed_between(
    asked: Allow | None, baseline: Baseline, key: Key, limits: Mapping[str, float] | None = None
) -> Allowed:
    """Return how far a check of one environment key may be from a baseline of any key.

    Between two different keys bits are bound to differ, so the noise floor holds whatever the
    target asks for.
    """
    if baseline.key.digest != key.digest:
        asked = "noise-floor"
    return replace(allowed(asked, baseline), limits=limits or {})
