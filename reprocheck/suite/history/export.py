"""What a history holds, as CSV for other programs.

Rows are written as they are read: a history can be larger than the memory. Texts that a spreadsheet
would evaluate have an apostrophe in front (`report.spreadsheet`).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reprocheck.files.atomic import replacing
from reprocheck.report.spreadsheet import marked
from reprocheck.suite import curves
from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.history.store import History
from reprocheck.suite.model import RankSeries, TargetCheck, TargetState

Row = Iterable[object]
CHECKS = (
    "night", "target", "attempt", "final", "started", "seconds", "verdict", "failed_check",
    "exit_code", "reason", "good", "bitwise", "first_bitwise", "first_divergence", "rung", "place",
    "causes", "source", "key", "facts", "beside", "commit", "rtol", "atol", "folder", "state",
    "failed", "since", "sentence", "measures",
)  # fmt: skip
"""The columns of the checks. `facts` and `beside` are JSON, `causes` codes with a comma between
them.
"""
SERIES = (
    "night",
    "target",
    "rank",
    "series",
    "by",
    "iteration",
    "step",
    "value",
    "dtype",
    "hex",
)
"""The columns of the series: one row a value of the last attempt of each target."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Say what is exported: one target or all (""), the last nights or all (None)."""

    target: str = ""
    last: int | None = None


def export(history: History, file: Path, selection: Selection, *, series: bool = False) -> int:
    """Write the checks, or every value of their series, and return the number of rows.

    Raises HistoryError if the file is no `.csv`, or cannot be written.
    """
    if file.suffix.lower() != ".csv":
        raise HistoryError(f"{file}: there is no such export.", "Name a file .csv.")
    columns: Sequence[str] = CHECKS
    rows: Iterable[Row] = _checks(history, selection)
    if series:
        columns, rows = SERIES, _values(history, selection)
    try:
        with replacing(file) as opened:
            text = io.TextIOWrapper(opened, "utf-8", newline="")
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(columns)
            number = 0
            for row in rows:
                writer.writerow(map(_cell, row))
                number += 1
            text.detach()
    except OSError as error:
        raise HistoryError(
            f"{file} cannot be written: {error.strerror}.", "Name a file in a folder with room."
        ) from error
    return number


def _cell(value: object) -> object:
    """Return a value as it stands in a cell: texts that no spreadsheet evaluates, no NaN."""
    if isinstance(value, str):
        return marked(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def _checks(history: History, selection: Selection) -> Iterator[Row]:
    for night in history.nights(selection.last):
        found = history.checks(night=night.id, target=selection.target or None)
        states = {state.target: state for state in history.states(night=night.id)}
        last = {check.target: check.attempt for check in found}
        for check in found:
            is_final = last[check.target] == check.attempt
            yield _check(check, states.get(check.target), final=is_final)


def _check(check: TargetCheck, state: TargetState | None, *, final: bool) -> Row:
    started = datetime.fromtimestamp(check.started, UTC)
    shown: dict[str, object] = {
        "final": final,
        "started": started.isoformat(" ", "milliseconds"),
        "causes": ",".join(check.causes),
        "key": check.key.digest,
        "facts": json.dumps(dict(check.key.facts)),
        "beside": json.dumps(dict(check.beside)),
        "state": state.state if state else None,
        "failed": state.failed if state else None,
        "since": state.since if state else None,
        "sentence": state.sentence if state else None,
    }
    return (shown[name] if name in shown else getattr(check, name) for name in CHECKS)


def _values(history: History, selection: Selection) -> Iterator[Row]:
    for night in history.nights(selection.last):
        found = history.checks(night=night.id, target=selection.target or None, curves=True)
        last = {check.target: check for check in found}
        for check in last.values():
            for series in curves.unpack(check.curves):
                yield from _of_series(check, series)


def _of_series(check: TargetCheck, of_rank: RankSeries) -> Iterator[Row]:
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
            # every bit, for `float.fromhex`; what no double holds is a fraction of two integers
            series.numbers.exact.get(index) or series.numbers.values[index].hex(),
        )
