"""What a file of another program says of a series, and how it becomes series of a check."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reprocheck.model import LOSS_SERIES, LossSeries, Series
from reprocheck.suite.baselines.compare import steps_of
from reprocheck.suite.model import RankSeries
from reprocheck.suite.surface import is_of_a_machine

Precision = Literal["rounded", "single", "double"]
"""How much of the numbers the file holds: fewer digits than were computed, or every bit of single
or of double precision.
"""
_SHORTEST = 9
"""Decimal digits that always restore a number of single precision. Values with more, which single
precision holds, were printed in full.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Points:
    """Hold one series of a file.

    name    the name of the series in the file
    by      the tracker that logged it; None if the file does not say
    steps   the step of each value, as written in the file
    """

    name: str
    steps: tuple[float, ...]
    values: tuple[float, ...]
    precision: Precision = "rounded"
    rank: int = 0
    by: str | None = None


def precision_of(texts: Sequence[str]) -> Precision:
    """Return `single` if the numbers were written in single precision; else `rounded`.

    They were if single precision holds all of them and their texts have more digits than someone
    who rounds would write.
    """
    import numpy as np

    values = np.array([float(text) for text in texts])
    with np.errstate(over="ignore"):
        held = values.astype(np.float32).astype(np.float64)
    finite = np.isfinite(values)
    if not (held == values)[finite].all():
        return "rounded"
    longest = max((digits(text) for text in texts), default=0)
    if longest <= _SHORTEST:
        return "rounded"
    return "single"


def digits(text: str) -> int:
    """Count the significant decimal digits of a number given as text.

    >>> digits("0.00120e-5")
    3
    """
    mantissa = re.split("[eE]", text)[0]
    return len(re.sub(r"\D", "", mantissa).lstrip("0"))


_THE_LOSS = frozenset(
    {"loss", "lm loss", "train_loss", "train/loss", "loss_metrics/global_avg_loss"}
)
"""What others call the loss of the training: transformers, Megatron-LM, Lightning, torchtitan."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """Hold the series of a file that the check has, too.

    left_out  name of a series in the file -> why it was left out
    """

    series: tuple[RankSeries, ...]
    left_out: Mapping[str, str]


def fit(
    points: Iterable[Points], curves: Sequence[RankSeries], names: Mapping[str, str] | None = None
) -> Fitted:
    """Match the series of a file with the series of a check.

    names  name in the file -> name in the check, with its tracker (`keras:acc`) if two trackers
           use the same name
    """
    found, left_out = [], {}
    for one in points:
        wanted = (names or {}).get(one.name, one.name)
        if is_of_a_machine(wanted):
            left_out[one.name] = "it is a clock's, which is never compared"
            continue
        own = _same(one, wanted, curves)
        if own is None:
            left_out[one.name] = "the last check has no series of this name"
            continue
        fitted = _fitted(one, own)
        if fitted is None:
            left_out[one.name] = "the last check has none of its steps"
            continue
        found.append(fitted)
    return Fitted(series=tuple(found), left_out=left_out)


def _same(points: Points, wanted: str, curves: Sequence[RankSeries]) -> RankSeries | None:
    """Return the series of the check that corresponds to a series of a file.

    None if there is none.
    """
    of_rank = [series for series in curves if series.rank == points.rank]
    for one in of_rank:
        series = one.series
        if wanted in (series.name, f"{series.by}:{series.name}") and points.by in (None, series.by):
            return one
    if wanted not in _THE_LOSS:
        return None
    losses = (one for one in of_rank if (one.series.name, one.series.by) == (LOSS_SERIES, ""))
    return next(losses, None)


def _fitted(points: Points, own: RankSeries) -> RankSeries | None:
    """Return the file's values at the steps of a check's series.

    None if they have no step in common.
    """
    places = steps_of(own.series)
    shift = 1 if 0 in points.steps and 0 not in places else 0
    steps = [step + shift for step in points.steps]
    known = set(places)
    within = [pair for pair in zip(steps, points.values, strict=True) if pair[0] in known]
    if not within:
        return None
    if [step for step, _ in within] == places:
        series = _at(own.series, range(len(places)), [value for _, value in within])
        return replace(own, series=series, rounded=not _in_full(points, own.series))
    last_at = {place: number for number, place in enumerate(places)}
    kept = {last_at[step]: value for step, value in within}
    numbers = sorted(kept)
    series = _at(own.series, numbers, [kept[number] for number in numbers])
    return replace(own, series=series, rounded=True)


def _in_full(points: Points, own: Series) -> bool:
    """Return whether a file holds the values with every bit that the check's dtype has."""
    import numpy as np

    if points.precision != "single":
        return points.precision == "double"
    values = np.asarray(own.numbers.values)
    with np.errstate(over="ignore"):
        single = values.astype(np.float32).astype(np.float64)
    return bool(((single == values) | np.isnan(values)).all())


def _at(own: Series, numbers: Sequence[int], values: Iterable[float]) -> Series:
    """Return values at these places (from 0) of a series, with its dtypes."""
    of_numbers = LossSeries(
        values=array("d", values),
        dtype_of=array("B", [own.numbers.dtype_of[number] for number in numbers]),
        dtypes=own.numbers.dtypes,
        ends=array("q", range(1, len(numbers) + 1)),
    )
    return replace(
        own,
        numbers=of_numbers,
        iterations=array("q", [own.iterations[number] for number in numbers]),
        steps=array("d", [own.steps[number] for number in numbers]),
    )
