"""The series of one trace file, gathered in columns."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from math import nan

from reprocheck.model import LossSeries, Series
from reprocheck.trace import events
from reprocheck.trace.lines import LONGEST_EXACT, code_of, number

MOST_SERIES, LONGEST_NAME = 2_000, 200
"""Series that are kept of one process, and characters of their names, as a recorder writes them: a
recording that somebody else made must not take more memory than its size explains.
"""

Key = tuple[str, str]


@dataclass(slots=True)
class _Column:
    """Hold one series while its trace file is read; each array has one entry for each value."""

    values: array[float] = field(default_factory=lambda: array("d"))
    dtype_of: array[int] = field(default_factory=lambda: array("B"))
    dtypes: dict[str, int] = field(default_factory=dict)
    exact: dict[int, str] = field(default_factory=dict)
    iterations: array[int] = field(default_factory=lambda: array("q"))
    steps: array[float] = field(default_factory=lambda: array("d"))


class Columns:
    """Hold all series of one process, by the name of the series and its tracker."""

    def __init__(self) -> None:
        self._columns: dict[Key, _Column] = {}

    def take(self, event: events.Series) -> bool:
        """Add one value to its series; return False if the process has too many series already."""
        key = (event.n[:LONGEST_NAME], event.by[:LONGEST_NAME])
        column = self._columns.get(key)
        if column is None:
            if len(self._columns) >= MOST_SERIES:
                return False
            column = self._columns[key] = _Column()
        if 0 < len(event.x) <= LONGEST_EXACT:
            column.exact[len(column.values)] = event.x
        column.values.append(number(event.v))
        column.dtype_of.append(code_of(column.dtypes, event.d))
        # In their order, whatever a trace says: `until` depends on it.
        column.iterations.append(max(event.i, *column.iterations[-1:], 0))
        column.steps.append(nan if event.s is None else event.s)
        return True

    def until(self, iteration: int) -> tuple[Series, ...]:
        """Return the series with the values that were reported up to an iteration.

        The series stand in the order of their first values; series without a value by then are left
        out.
        """
        series = []
        for (name, by), column in self._columns.items():
            count = bisect_right(column.iterations, iteration)
            numbers = LossSeries(
                values=column.values[:count],
                dtype_of=column.dtype_of[:count],
                dtypes=tuple(column.dtypes),
                ends=array("q", range(1, count + 1)),
                exact={place: text for place, text in column.exact.items() if place < count},
            )
            series.append(
                Series(
                    name=name,
                    by=by,
                    numbers=numbers,
                    iterations=column.iterations[:count],
                    steps=column.steps[:count],
                )
            )
        return tuple(filter(len, series))
