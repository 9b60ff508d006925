"""What a history holds, as a file for other programs: CSV or Parquet, written by pandas.

Rows are written as they are read, a part at a time: a history can be larger than the memory. In
CSV, texts that a spreadsheet would evaluate have an apostrophe in front (`report.spreadsheet`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from reprocheck.files.atomic import replacing
from reprocheck.model import Series
from reprocheck.report.spreadsheet import marked
from reprocheck.suite import curves
from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.history.store import History
from reprocheck.suite.model import RankSeries, TargetCheck, TargetState

if TYPE_CHECKING:
    import pandas as pd

CHECKS: Mapping[str, str] = {
    "night": "string",
    "target": "string",
    "attempt": "Int64",
    "final": "boolean",
    "started": "datetime64[ms, UTC]",
    "seconds": "float64",
    "verdict": "string",
    "failed_check": "string",
    "exit_code": "Int64",
    "reason": "string",
    "good": "boolean",
    "bitwise": "boolean",
    "first_bitwise": "Int64",
    "first_divergence": "Int64",
    "rung": "string",
    "place": "string",
    "causes": "string",
    "source": "string",
    "key": "string",
    "facts": "string",
    "beside": "string",
    "commit": "string",
    "rtol": "float64",
    "atol": "float64",
    "folder": "string",
    "state": "string",
    "failed": "boolean",
    "since": "string",
    "sentence": "string",
}
"""The columns of the checks, with their types in pandas. `facts` and `beside` are JSON, `causes`
codes with a comma between them.
"""
SERIES: Mapping[str, str] = {
    "night": "string",
    "target": "string",
    "rank": "Int64",
    "series": "string",
    "by": "string",
    "iteration": "Int64",
    "step": "float64",
    "value": "float64",
    "dtype": "string",
    "hex": "string",
}
"""The columns of the series: one row a value of the last attempt of each target."""
ROWS = 50_000
"""Rows that are written at once, at least: a group of rows in Parquet."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is exported: of one target or of all (""), of the last nights or of all (None)."""

    target: str = ""
    last: int | None = None


def export(history: History, file: Path, selection: Selection, *, series: bool = False) -> int:
    """Writes the checks, or every value of their series, and returns the number of rows.

    The ending of `file` says what is written: `.csv` or `.parquet`. Raises HistoryError for
    another one, where pyarrow is missing, and where the file cannot be written.
    """
    write = WRITERS.get(file.suffix.lower())
    if write is None:
        raise HistoryError(f"{file}: there is no such export.", "Name a file .csv or .parquet.")
    columns = SERIES if series else CHECKS
    records = _values(history, selection) if series else _checks(history, selection)
    try:
        with replacing(file) as to:
            return write(to, _frames(records, columns))
    except OSError as error:
        raise HistoryError(
            f"{file} cannot be written: {error.strerror}.", "Name a file in a folder with room."
        ) from error


# --------------------------------------------------------------------------------------- what rows


def _checks(history: History, selection: Selection) -> Iterator[list[tuple[object, ...]]]:
    for night in history.nights(selection.last):
        found = history.checks(night=night.id, target=selection.target or None)
        states = {state.target: state for state in history.states(night=night.id)}
        last = {check.target: check.attempt for check in found}
        yield [
            _check(check, states.get(check.target), final=last[check.target] == check.attempt)
            for check in found
        ]


def _check(check: TargetCheck, state: TargetState | None, *, final: bool) -> tuple[object, ...]:
    shown: dict[str, object] = {
        "final": final,
        "started": check.started * 1000,
        "causes": ",".join(check.causes),
        "key": check.key.digest,
        "facts": json.dumps(dict(check.key.facts)),
        "beside": json.dumps(dict(check.beside)),
        "state": state.state if state else None,
        "failed": state.failed if state else None,
        "since": state.since if state else None,
        "sentence": state.sentence if state else None,
    }
    return tuple(shown[name] if name in shown else getattr(check, name) for name in CHECKS)


def _values(history: History, selection: Selection) -> Iterator[list[tuple[object, ...]]]:
    for night in history.nights(selection.last):
        found = history.checks(night=night.id, target=selection.target or None, curves=True)
        last = {check.target: check for check in found}
        for check in last.values():
            for one in curves.unpack(check.curves):
                yield list(_of_series(check, one))


def _of_series(check: TargetCheck, of_rank: RankSeries) -> Iterator[tuple[object, ...]]:
    series = of_rank.series
    for index, value in enumerate(series.numbers.values):
        yield (
            check.night,
            check.target,
            of_rank.rank,
            series.name,
            series.by,
            series.iterations[index],
            series.step(index + 1),
            value,
            series.numbers.dtype(index),
            _every_bit(series, index),
        )


def _every_bit(series: Series, index: int) -> str:
    """A value as Python's `float.fromhex` reads it; one that no double holds as a fraction of two
    hexadecimal integers.
    """
    return series.numbers.exact.get(index) or series.numbers.values[index].hex()


# ------------------------------------------------------------------------------------------- files


def _frames(
    records: Iterable[list[tuple[object, ...]]], columns: Mapping[str, str]
) -> Iterator[pd.DataFrame]:
    """Tables of at least `ROWS` rows but the last one, which may have none."""
    waiting: list[tuple[object, ...]] = []
    for several in records:
        waiting += several
        if len(waiting) >= ROWS:
            yield _frame(waiting, columns)
            waiting = []
    yield _frame(waiting, columns)


def _frame(rows: list[tuple[object, ...]], columns: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=list(columns), dtype=object)
    if "started" in columns:
        frame["started"] = pd.to_datetime(frame["started"].astype("float64"), unit="ms", utc=True)
    return frame.astype(dict(columns))


def _write_csv(file: IO[bytes], frames: Iterable[pd.DataFrame]) -> int:
    count = 0
    for number, frame in enumerate(frames):
        texts: pd.DataFrame = frame.select_dtypes("string")
        # texts that no spreadsheet evaluates
        safe = frame.assign(**texts.map(marked, na_action="ignore"))
        file.write(safe.to_csv(index=False, header=number == 0).encode())
        count += len(frame)
    return count


def _write_parquet(file: IO[bytes], frames: Iterator[pd.DataFrame]) -> int:
    if find_spec("pyarrow") is None:
        raise HistoryError(
            "A file .parquet needs pyarrow, which is not installed.",
            'pip install "reprocheck[parquet]", or export to a file .csv.',
        )
    import pyarrow as pa
    from pyarrow import parquet

    first = next(frames)
    schema = pa.Schema.from_pandas(first, preserve_index=False)
    count = 0
    with parquet.ParquetWriter(file, schema) as writer:
        for frame in (first, *frames):
            writer.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False))
            count += len(frame)
    return count


Writer = Callable[[IO[bytes], Any], int]
WRITERS: Mapping[str, Writer] = {".csv": _write_csv, ".parquet": _write_parquet}
"""What writes tables into a file and returns the number of rows, by the ending of its name."""
