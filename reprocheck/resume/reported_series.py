"""What both runs report beside their losses behind the checkpoint, such as a loss of validation:
values of the same iteration side by side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import zip_longest

from reprocheck.model import Run, Series
from reprocheck.resume.model import Reported, ReportedPair
from reprocheck.verdict.machine import is_of_a_machine


def reported(continued: Run, resumed: Run, k: int, count: int) -> tuple[Reported, ...]:
    """Return each series that both runs reported in the `count` iterations behind update k.

    Times and what a machine uses are left out.
    """
    own = resumed.by_rank
    both: list[Reported] = []
    for trace in continued.traces:
        other = own.get(trace.rank)
        for series in trace.series:
            if other is None or is_of_a_machine(series.name):
                continue
            was = _by_iteration(series, k)
            now = _by_iteration(other.reported(series.name, series.by), 0)
            pairs = [
                ReportedPair(iteration=iteration, continued=value, resumed=other_value)
                for iteration in sorted(was.keys() & now.keys() & set(range(1, count + 1)))
                for value, other_value in zip_longest(was[iteration], now[iteration])
            ]
            if pairs:
                name, by = series.name, series.by
                both.append(Reported(name=name, by=by, rank=trace.rank, pairs=tuple(pairs)))
    return tuple(both)


def _by_iteration(series: Series, k: int) -> Mapping[int, list[float]]:
    """Return iteration of the resumed run -> what was reported while it was the last one."""
    values: dict[int, list[float]] = defaultdict(list)
    for iteration, value in zip(series.iterations, series.numbers.values, strict=True):
        values[iteration - k].append(value)
    return values
