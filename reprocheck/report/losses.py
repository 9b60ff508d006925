"""losses.csv: every recorded loss and every value of the series beside them, exact.

`pandas.read_csv` restores every bit (before pandas 3 with `float_precision="round_trip"`). Names
that a spreadsheet would evaluate have an apostrophe in front (`report.spreadsheet`).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from reprocheck.model import LOSS_SERIES, Check, LossSeries, Series, Trace
from reprocheck.report.spreadsheet import marked
from reprocheck.report.text import line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLUMNS = ("run", "rank", "series", "by", "iteration", "index", "step", "value", "dtype")
_ITERATION = COLUMNS.index("iteration")
ROWS = 50_000


def chunks(check: Check, kept: Sequence[int] | None = None) -> Iterator[bytes]:
    """Yield the file in pieces of at most 50,000 values.

    A million iterations are never held as text. `kept`: the iterations whose values are written;
    None for all.
    """
    wanted = None if kept is None else frozenset(kept)
    yield _text([COLUMNS])
    for run in check.runs:
        for trace in run.traces:
            for rows in tables(run.number, trace):
                if wanted is not None:
                    rows = [row for row in rows if row[_ITERATION] in wanted]
                yield _text(rows)


def tables(run: int, trace: Trace) -> Iterator[list[tuple[object, ...]]]:
    """Yield the values of a rank in pieces: its losses, then its series.

    The steps of losses are the iterations.
    """
    import numpy as np

    ends = np.asarray(trace.losses.ends, dtype=np.int64)
    iterations = np.repeat(np.arange(1, len(ends) + 1), np.diff(ends, prepend=0))
    yield from _rows((run, trace.rank, LOSS_SERIES, ""), iterations, iterations, trace.losses)
    for series in trace.series:
        head = (run, trace.rank, marked(line(series.name)), marked(line(series.by)))
        yield from _rows(head, np.asarray(series.iterations), _steps(series), series.numbers)


def _steps(series: Series) -> NDArray[np.generic]:
    """Return the position of each value on the tracker's axis, else the iteration."""
    import numpy as np

    steps = np.asarray(series.steps)
    steps = np.where(np.isnan(steps), np.asarray(series.iterations), steps)
    if (steps == np.floor(steps)).all():
        return steps.astype(np.int64)
    return steps


def _rows(
    head: tuple[object, ...],
    iterations: NDArray[np.int64],
    steps: NDArray[np.generic],
    numbers: LossSeries,
) -> Iterator[list[tuple[object, ...]]]:
    """Yield the CSV rows of one series, in pieces.

    `head` is the same in all rows, `index` counts the values of one iteration from 0.
    """
    import numpy as np

    index = np.arange(len(iterations)) - np.searchsorted(iterations, iterations, side="left")
    dtypes = list(map(_name, numbers.dtypes))
    for start in range(0, len(iterations), ROWS):
        part = slice(start, min(start + ROWS, len(iterations)))
        axes = (column[part].tolist() for column in (iterations, index, steps))
        names = map(dtypes.__getitem__, numbers.dtype_of[part])
        found = zip(*axes, numbers.values[part], names, strict=True)
        yield [(*head, *row) for row in found]


def _text(rows: Iterable[tuple[object, ...]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def _name(dtype: str) -> str:
    """Return a name reduced to characters that need no quotes in a CSV file."""
    return re.sub(r"[^A-Za-z0-9._]", "", dtype)
