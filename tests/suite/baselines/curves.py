"""Curves written as lists of values."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from reprocheck.model import LossSeries, Series
from reprocheck.suite.model import RankSeries


def curve(
    values: Sequence[float],
    name: str = "loss",
    by: str = "",
    *,
    rank: int = 0,
    steps: Sequence[float] | None = None,
    iterations: Sequence[int] | None = None,
    dtype: str = "float32",
    repeats: bool = True,
    rounded: bool = False,
    steady: int | None = None,
) -> RankSeries:
    """A series whose values stand at iterations 1, 2, …, without steps of a tracker."""
    count = len(values)
    numbers = LossSeries(
        values=array("d", values),
        dtype_of=array("B", bytes(count)),
        dtypes=(dtype,),
        ends=array("q", range(1, count + 1)),
    )
    series = Series(
        name=name,
        by=by,
        numbers=numbers,
        iterations=array("q", iterations or range(1, count + 1)),
        steps=array("d", steps or [math.nan] * count),
    )
    return RankSeries(rank=rank, series=series, repeats=repeats, rounded=rounded, steady=steady)
