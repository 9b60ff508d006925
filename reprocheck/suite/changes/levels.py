"""The level of the losses of a night, as one number: what a shift is looked for in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reprocheck.model import LOSS_SERIES
from reprocheck.suite.model import RankSeries


def level(curves: Sequence[RankSeries], reference: Sequence[RankSeries]) -> float | None:
    """Return the mean of loss / reference - 1 over the values that both have, of the lowest rank;
    None if there is none.
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
