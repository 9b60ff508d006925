"""What both runs report beside their losses behind the checkpoint, such as a loss of validation:
values of the same iteration side by side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from reprocheck.model import Run, Series
from reprocheck.resume.model import Reported, ReportedPair
from reprocheck.verdict.machine import is_of_a_machine

Values = Mapping[int, list[float]]
"""Iteration of the resumed run -> what was reported while it was the last one."""


def reported(continued: Run, resumed: Run, k: int, count: int) -> tuple[Reported, ...]:
    """Return each series that both runs reported in the `count` iterations behind update k. Times
    and what a machine uses are left out.
    """
    return tuple(one for one in _reported(continued, resumed, k, count) if one.pairs)


def _reported(continued: Run, resumed: Run, k: int, count: int) -> Iterator[Reported]:
    own = resumed.by_rank
    for trace in continued.traces:
        other = own.get(trace.rank)
        for series in trace.series:
            if other is None or is_of_a_machine(series.name):
                continue
            was = _by_iteration(series, k)
            now = _by_iteration(other.reported(series.name, series.by), 0)
            pairs = tuple(_pairs(was, now, count))
            yield Reported(name=series.name, by=series.by, rank=trace.rank, pairs=pairs)


def _by_iteration(series: Series, k: int) -> Values:
    found: dict[int, list[float]] = defaultdict(list)
    for iteration, value in zip(series.iterations, series.numbers.values, strict=True):
        found[iteration - k].append(value)
    return found


def _pairs(was: Values, now: Values, count: int) -> Iterator[ReportedPair]:
    """Yield the values of iterations in which both runs report the series at all."""
    for iteration in range(1, count + 1):
        if iteration in was and iteration in now:
            for one, other in zip_longest(was[iteration], now[iteration]):
                yield ReportedPair(iteration=iteration, continued=one, resumed=other)
