"""Text with a row a step: torchtitan's losses, CSV files, and `losses.csv` of our reports.

torchtitan (`tests/assets/losses/*.txt`) writes `STEP LOSS`, in full; newer files have more columns,
which a comment names: `# step loss grad_norm`.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from reprocheck.suite.baselines.foreign.points import Points, precision_of

_STEP = ("step", "global_step", "iteration", "iter", "trainer/global_step")
_NOT_A_SERIES = frozenset({*_STEP, "wall time", "epoch"})
_OURS = frozenset({"run", "rank", "series", "by", "iteration", "step", "value", "dtype"})
_NUMBERS = re.compile(r"\d+(?:\s+[-+.\w]+)+")


def is_columns(text: str) -> bool:
    """Whether the first row that is no comment is numbers with space between them."""
    rows = [row for row in text.splitlines() if row.strip() and not row.startswith("#")]
    return bool(rows) and _NUMBERS.fullmatch(rows[0].strip()) is not None


def read_columns(text: str) -> Iterator[Points]:
    """torchtitan's text. Raises ValueError where a row is none of it."""
    names: Sequence[str] = ("step", "loss")
    rows = []
    for line in text.splitlines():
        words = line.removeprefix("#").split()
        if line.startswith("#"):
            names = words if words[:1] == ["step"] else names
        elif words:
            rows.append(words)
    for place, name in enumerate(names[1:], start=1):
        yield _points(name, [(row[0], row[place]) for row in _wide_enough(rows, len(names))])


def _wide_enough(rows: Sequence[Sequence[str]], count: int) -> Iterator[Sequence[str]]:
    for row in rows:
        if len(row) != count:
            raise ValueError(f"a row has {len(row)} columns instead of {count}: {' '.join(row)}")
        yield row


def read_csv(text: str) -> Iterator[Points]:
    """A CSV file with a column `step` or `iteration` and one for each series, or `losses.csv` of a
    report. Empty cells are left out. Raises ValueError where it has no such columns.
    """
    reader = csv.DictReader(text.splitlines())
    columns = [name for name in reader.fieldnames or () if name]
    if set(columns) >= _OURS:
        yield from _ours(reader)
        return
    step = next((name for name in columns if name.lower() in _STEP), None)
    if step is None:
        raise ValueError(f"it has no column `step` or `iteration`, but {', '.join(columns)}")
    rows = list(reader)
    for name in columns:
        if name.lower() in _NOT_A_SERIES:
            continue
        yield _points(name, [(row[step], row[name]) for row in rows if row[step] and row[name]])


def _points(name: str, cells: Sequence[tuple[str, str]]) -> Points:
    values = [value for _, value in cells]
    return Points(
        name=name,
        steps=tuple(float(step) for step, _ in cells),
        values=tuple(map(float, values)),
        precision=precision_of(values),
    )


def _ours(rows: csv.DictReader[str]) -> Iterator[Points]:
    """The series of run 1 of `losses.csv`, every bit of them."""
    found: dict[tuple[int, str, str], list[Mapping[str, str]]] = defaultdict(list)
    for row in rows:
        if row["run"] == "1":
            found[int(row["rank"]), row["series"], row["by"]].append(row)
    for (rank, name, by), of_series in found.items():
        yield Points(
            name=name,
            by=by,
            rank=rank,
            steps=tuple(float(row["step"]) for row in of_series),
            values=tuple(float(row["value"]) for row in of_series),
            precision="double",
        )
