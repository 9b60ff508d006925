"""The formats of other programs: Megatron-LM's golden values, and text with a row a step."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from reprocheck.report.spreadsheet import unmarked
from reprocheck.suite.baselines.foreign.points import Points, precision_of

if TYPE_CHECKING:
    import pandas as pd


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


def is_columns(text: str) -> bool:
    """Return whether the first line that is no comment holds numbers separated by spaces."""
    rows = filterfalse(_SAYS_NOTHING.fullmatch, io.StringIO(text))
    return _ROW.fullmatch(next(rows, "")) is not None


def read_columns(text: str) -> Iterator[Points]:
    """Read the series from a torchtitan loss file.

    Raises ValueError if the number of columns is not that of the header.
    """
    import pandas as pd

    named = _NAMES.search(text)
    names = named[1].split() if named else ["step", "loss"]
    table = pd.read_csv(
        io.StringIO(text), sep=r"\s+", comment="#", header=None, dtype=str, keep_default_na=False
    )
    if len(table.columns) != len(names):
        raise ValueError(f"it has {len(table.columns)} columns, and not {', '.join(names)}")
    if len(set(names)) < len(names):
        raise ValueError(f"two of its columns have the same name: {', '.join(names)}")
    table.columns = pd.Index(names)
    if not table.astype(bool).to_numpy().all():
        raise ValueError("a row has fewer columns than the others")
    return _series(table, "step")


def read_csv(text: str) -> Iterator[Points]:
    """Return a CSV file with a column `step` or `iteration` and one for each series, or
    `losses.csv` of a report. Empty cells are left out. Raises ValueError if it has no such
    columns.
    """
    import pandas as pd

    table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    if _OURS.issubset(table.columns):
        return _ours(table)
    steps = [name for name in table.columns if name.lower() in _STEPS]
    if not steps:
        raise ValueError(f"it has no column `step` or `iteration`, but {', '.join(table.columns)}")
    return _series(table, steps[0])


def _series(table: pd.DataFrame, step: str) -> Iterator[Points]:
    """Yield a series for each column except the column of the steps."""
    for name in table.columns:
        if name.lower() in _NO_SERIES:
            continue
        rows = [pair for pair in zip(table[step], table[name], strict=True) if all(pair)]
        texts = [text for _, text in rows]
        yield Points(
            name=name,
            steps=tuple(float(place) for place, _ in rows),
            values=tuple(map(float, texts)),
            precision=precision_of(texts),
        )


def _ours(table: pd.DataFrame) -> Iterator[Points]:
    """Yield the series of run 1 from our own `losses.csv`, bit for bit."""
    of_run = table[table["run"] == "1"]
    for _, rows in of_run.groupby(["rank", "series", "by"], sort=False):
        first = rows.iloc[0]
        yield Points(
            name=unmarked(first["series"]),
            by=unmarked(first["by"]),
            rank=int(first["rank"]),
            steps=tuple(map(float, rows["step"])),
            values=tuple(map(float, rows["value"])),
            precision="double",
        )
