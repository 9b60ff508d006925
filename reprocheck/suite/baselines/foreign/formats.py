"""The formats of other programs: Megatron-LM's golden values, and text with a row a step."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import Any

from reprocheck.report.spreadsheet import unmarked
from reprocheck.suite.baselines.foreign.points import Points, precision_of


def is_golden(text: str) -> bool:
    """Return whether a text may be a file of Megatron-LM's golden values."""
    return text.lstrip().startswith("{") and '"values"' in text


def read(text: str) -> Iterator[Points]:
    """Yield the series of a golden-values file. Raises ValueError if the text is no such file."""
    whole = json.loads(text)
    if not isinstance(whole, dict):
        raise ValueError("it holds no object")
    for name, one in whole.items():
        # Averages stand beside the series in older files, as numbers.
        if isinstance(one, dict) and "values" in one:
            yield _points(name, one)


def _points(name: str, one: Mapping[str, Any]) -> Points:
    values = one["values"]
    if isinstance(values, list):
        first, interval = int(one["start_step"]) + 1, int(one["step_interval"])
        values = {first + place * interval: value for place, value in enumerate(values)}
    try:
        found = {float(step): float(value) for step, value in values.items()}
    except (TypeError, AttributeError):
        raise ValueError(f"the values of {name!r} are no numbers by step") from None
    logged = {step: value for step, value in found.items() if value == value}
    return Points(name=name, steps=tuple(logged), values=tuple(logged.values()))


_STEPS = ("step", "global_step", "iteration", "iter", "trainer/global_step")
_NO_SERIES = frozenset({*_STEPS, "wall time", "epoch"})
_OURS = frozenset({"run", "rank", "series", "by", "step", "value", "dtype"})
_SAYS_NOTHING = re.compile(r"\s*(?:#.*\n?)?")
_ROW = re.compile(r"\s*\d+(?:[ \t]+[-+.\w]+)+\s*")
"""Numbers with space between them."""
_NAMES = re.compile(r"^#\s*(step\s.*)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """Rows of text, each with a cell for each name."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]

    def column(self, name: str) -> list[str]:
        place = self.names.index(name)
        return [row[place] for row in self.rows]


def is_columns(text: str) -> bool:
    """Return whether the first line that is no comment holds numbers separated by spaces."""
    rows = filterfalse(_SAYS_NOTHING.fullmatch, io.StringIO(text))
    return _ROW.fullmatch(next(rows, "")) is not None


def read_columns(text: str) -> Iterator[Points]:
    """Read the series from a torchtitan loss file.

    Raises ValueError if the number of columns is not that of the header.
    """
    named = _NAMES.search(text)
    names = named[1].split() if named else ["step", "loss"]
    lines = io.StringIO(text, newline=None)
    rows = [row for line in lines if (row := line.partition("#")[0].split())]
    if rows and len(rows[0]) != len(names):
        raise ValueError(f"it has {len(rows[0])} columns, and not {', '.join(names)}")
    return _series(_table(names, rows), "step")


def read_csv(text: str) -> Iterator[Points]:
    """Return a CSV file with a column of steps and one for each series.

    The column is `step` or `iteration`; `losses.csv` of a report is such a file, too. Empty cells
    are left out. Raises ValueError if it has no such columns.
    """
    try:
        lines = io.StringIO(text.removeprefix("\ufeff"), newline="")
        rows = list(filter(None, csv.reader(lines)))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    names = rows[0] if rows else []
    # a short row ends with empty cells
    table = _table(names, [row + [""] * (len(names) - len(row)) for row in rows[1:]])
    if _OURS.issubset(names):
        return _ours(table)
    steps = [name for name in names if name.lower() in _STEPS]
    if not steps:
        raise ValueError(f"it has no column `step` or `iteration`, but {', '.join(names)}")
    return _series(table, steps[0])


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> _Table:
    """Return a table. Raises ValueError if a name stands twice, or a row has another length."""
    if len(set(names)) < len(names):
        raise ValueError(f"two of its columns have the same name: {', '.join(names)}")
    for row in rows:
        if len(row) != len(names):
            fewer_or_more = "fewer" if len(row) < len(names) else "more"
            raise ValueError(f"a row has {fewer_or_more} columns than the others")
    return _Table(names=names, rows=rows)


def _series(table: _Table, step: str) -> Iterator[Points]:
    """Yield a series for each column except the column of the steps."""
    places = table.column(step)
    for name in table.names:
        if name.lower() in _NO_SERIES:
            continue
        rows = [pair for pair in zip(places, table.column(name), strict=True) if all(pair)]
        texts = [text for _, text in rows]
        yield Points(
            name=name,
            steps=tuple(float(place) for place, _ in rows),
            values=tuple(map(float, texts)),
            precision=precision_of(texts),
        )


def _ours(table: _Table) -> Iterator[Points]:
    """Yield the series of run 1 from our own `losses.csv`, bit for bit."""
    columns = ("run", "rank", "series", "by", "step", "value")
    points: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for run, rank, series, by, step, value in zip(*map(table.column, columns), strict=True):
        if run == "1":
            points.setdefault((rank, series, by), []).append((float(step), float(value)))
    for (rank, series, by), pairs in points.items():
        steps, values = zip(*pairs, strict=True)
        yield Points(
            name=unmarked(series),
            by=unmarked(by),
            rank=int(rank),
            steps=steps,
            values=values,
            precision="double",
        )
