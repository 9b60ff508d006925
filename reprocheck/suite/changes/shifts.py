"""Decide whether a number that varies from night to night has shifted.

Such numbers are times, and losses of a training that is known to vary.

The mean of the last nights is held against the nights before them by Student's t test, every night
anew. Nothing is kept between nights but the history itself, so that a shift is named for as long as
it stands out; after some months at the new level most of the reference is from there, and it is
the level that later nights are held against.

WINDOW nights are as many as a shift may take to be found. With s standard deviations between two
levels and known levels, the mean of five nights is s * sqrt(5) of its own deviations off: 4.47 for
a shift of two, which a test at a two-sided 0.01 finds with a probability of 0.97. A reference of
60 nights costs two hundredths of it. (A CUSUM scheme that finds as many marks twice as many nights
falsely: it stays above its limit for some nights each time.)

Single nights cannot make a shift: a night counts for CLIP deviations at most, and one in the
reference for CLIP_OF_REFERENCE, deviations taken from the median absolute deviation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from reprocheck.model import LOSS_SERIES
from reprocheck.suite.model import RankSeries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


WINDOW = 5
"""Nights within which a shift of two standard deviations is to be found."""
REFERENCE = 250
"""Nights before the window that it is held against, at most."""
LEAST = 20
"""Fewer nights say too little of how a number varies."""
CLIP = 3.5
CLIP_OF_REFERENCE = 5.0
_TO_DEVIATION = 1 / NormalDist().inv_cdf(0.75)
"""From a median absolute deviation to the standard deviation of normal numbers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shift:
    """Describe a shift of the mean of a number over nights.

    before, after  means of the reference and of the last nights
    deviations     what lies between them, in standard deviations of the reference; negative down
    first          index of the first value at the new level
    """

    before: float
    after: float
    deviations: float
    first: int


def shift(
    values: Sequence[float], *, alpha: float, spread: float, least: float = 0.0
) -> Shift | None:
    """Return the shift that the last values show; None if they show none.

    values  one value per night, oldest first, all finite
    alpha   the two-sided probability of marking a night although nothing shifted
    spread  the least standard deviation that is believed: of numbers that are always the same, a
            trifle would be a shift
    least   what each of the last nights may count for in any case: of numbers that hardly vary,
            CLIP deviations would hide how far they have shifted
    """
    import numpy as np

    if len(values) < LEAST + WINDOW:
        return None
    start = max(0, len(values) - WINDOW - REFERENCE)
    earlier = np.array(values[start:-WINDOW], dtype=np.float64)
    last = np.array(values[-WINDOW:], dtype=np.float64)

    median = float(np.median(earlier))
    robust_deviation = float(np.median(np.abs(earlier - median))) * _TO_DEVIATION
    deviation = max(spread, robust_deviation)
    reference = _clipped(earlier, median, CLIP_OF_REFERENCE * deviation)
    before = float(reference.mean())
    deviation = max(spread, float(reference.std(ddof=1)))
    after = float(_clipped(last, before, max(least, CLIP * deviation)).mean())

    error = deviation * math.sqrt(1 / WINDOW + 1 / len(reference))
    score = _normal((after - before) / error, len(reference) - 1)
    if abs(score) < NormalDist().inv_cdf(1 - alpha / 2):
        return None
    return Shift(
        before=before,
        after=after,
        deviations=(after - before) / deviation,
        first=_first_shifted(values, (before + after) / 2, up=after > before),
    )


def _clipped(values: NDArray[np.float64], middle: float, width: float) -> NDArray[np.float64]:
    return values.clip(middle - width, middle + width)


def _normal(t: float, freedom: int) -> float:
    """Return the normal deviate that is as rare as a t of so many degrees of freedom.

    The formula is that of Wallace (1959), to within 0.02 from 10 degrees on.
    """
    size = (8 * freedom + 1) / (8 * freedom + 3)
    return math.copysign(size * math.sqrt(freedom * math.log1p(t * t / freedom)), t)


def _first_shifted(values: Sequence[float], middle: float, *, up: bool) -> int:
    """Return the index from which on the values are nearer to the new level.

    The values from there on, up to the last one, are nearer to the new level than to the old.
    """
    shifted = [(value > middle) is up for value in values]
    last = len(shifted) - 1
    while last > 0 and not shifted[last]:
        last -= 1
    first = last
    while first > 0 and shifted[first - 1]:
        first -= 1
    return first


def level(curves: Sequence[RankSeries], reference: Sequence[RankSeries]) -> float | None:
    """Return the mean of loss / reference - 1 over the values that both have.

    The values are those of the lowest rank; None if there is none.
    """
    ratios = [
        value / other - 1
        for value, other in zip(_losses(curves), _losses(reference), strict=False)
        if other and math.isfinite(value / other)
    ]
    if not ratios:
        return None
    return math.fsum(ratios) / len(ratios)


def _losses(curves: Sequence[RankSeries]) -> Sequence[float]:
    """Return the losses of the lowest rank that has some."""
    for one in sorted(curves, key=lambda one: one.rank):
        if (one.series.name, one.series.by) == (LOSS_SERIES, ""):
            return one.series.numbers.values
    return ()
