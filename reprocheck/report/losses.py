"""losses.csv: every recorded loss and every value of the series beside them, exact.

`pandas.read_csv` restores every bit (before pandas 3 with `float_precision="round_trip"`). Names
that a spreadsheet would evaluate have an apostrophe in front (`report.spreadsheet`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reprocheck.model import LOSS_SERIES, Check, LossSeries, Series, Trace
from reprocheck.report.spreadsheet import marked
from reprocheck.report.text import line

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

COLUMNS = ("run", "rank", "series", "by", "iteration", "index", "step", "value", "dtype")
_PLAIN = re.compile(r"[\w./:-]*", re.ASCII)
"""Names that need no quotes in a CSV file."""
ROWS = 50_000
FEW = 2_000


def chunks(check: Check, kept: Sequence[int] | None = None) -> Iterator[bytes]:
    """The file in pieces of at most 50,000 values, so that a million iterations are never held as
    text. `kept`: the iterations whose values are written; None for all.
    """
    yield (",".join(COLUMNS) + "\n").encode()
    for run in check.runs:
        for trace in run.traces:
            total = max(trace.losses.ends[-1:], default=0)
            for start in range(0, total, ROWS):
                frame = table(run.number, trace, start, min(start + ROWS, total))
                yield _text(_of(frame, kept))
            for series in trace.series:
                for start in range(0, len(series), ROWS):
                    frame = _reported(run.number, trace.rank, series, slice(start, start + ROWS))
                    yield _named(_of(frame, kept), series)


def _of(frame: pd.DataFrame, kept: Sequence[int] | None) -> pd.DataFrame:
    """The rows of these iterations."""
    if kept is None:
        return frame
    return frame[frame["iteration"].isin(kept)]


def table(run: int, trace: Trace, start: int, end: int) -> pd.DataFrame:
    """The losses [start, end) of a rank as a table: a row for each, iterations and loss indexes
    beside it.
    """
    import numpy as np
    import pandas as pd

    series = trace.losses
    ends, index = np.asarray(series.ends), np.arange(start, end)
    iteration = np.searchsorted(ends, index, side="right")
    return pd.DataFrame(
        {
            "run": run,
            "rank": trace.rank,
            "series": LOSS_SERIES,
            "by": "",
            "iteration": iteration + 1,
            "index": index - np.where(iteration > 0, ends[iteration - 1], 0),
            "step": iteration + 1,
            "value": np.asarray(series.values)[start:end],
            "dtype": _dtypes(series)[start:end],
        },
        columns=list(COLUMNS),
    )


def _reported(run: int, rank: int, series: Series, rows: slice) -> pd.DataFrame:
    """Some values of a series as a table: `index` counts those of one iteration from 0, and where
    the tracker gave no step, the iteration stands for it.
    """
    import numpy as np
    import pandas as pd

    iterations = np.asarray(series.iterations)
    first_of_iteration = np.searchsorted(iterations, iterations, side="left")
    steps = np.asarray(series.steps)
    steps = np.where(np.isnan(steps), iterations, steps)
    if (steps == np.floor(steps)).all():
        steps = steps.astype(np.int64)
    return pd.DataFrame(
        {
            "run": run,
            "rank": rank,
            "series": marked(line(series.name)),
            "by": marked(line(series.by)),
            "iteration": iterations[rows],
            "index": (np.arange(len(series)) - first_of_iteration)[rows],
            "step": steps[rows],
            "value": np.asarray(series.numbers.values)[rows],
            "dtype": _dtypes(series.numbers)[rows],
        },
        columns=list(COLUMNS),
    )


def _dtypes(numbers: LossSeries) -> NDArray[np.object_]:
    """The name of the dtype of every value."""
    import numpy as np

    names = np.array([_name(dtype) for dtype in numbers.dtypes], dtype=object)
    each: NDArray[np.object_] = names[np.asarray(numbers.dtype_of)]
    return each


def _text(frame: pd.DataFrame) -> bytes:
    if len(frame) > FEW:
        return _many(frame)
    return _few(frame)


def _named(frame: pd.DataFrame, series: Series) -> bytes:
    """The same of a series, whose name may need quotes."""
    if _PLAIN.fullmatch(series.name) and _PLAIN.fullmatch(series.by):
        return _text(frame)
    return _few(frame)


def _few(frame: pd.DataFrame) -> bytes:
    text: str = frame.to_csv(header=False, index=False, na_rep="nan", lineterminator="\n")
    return text.encode()


def _many(frame: pd.DataFrame) -> bytes:
    """The same rows, fifteen times as fast: as JSON lists, of which the brackets and quotes are
    taken away.
    """
    import msgspec
    import numpy as np

    columns = [frame[name].tolist() for name in COLUMNS]
    values = columns[COLUMNS.index("value")]
    for index in np.flatnonzero(~np.isfinite(frame["value"].to_numpy())).tolist():
        values[index] = repr(values[index])
    rows = msgspec.json.encode(list(zip(*columns, strict=True)))
    return rows[2:-2].replace(b"],[", b"\n").replace(b'"', b"") + b"\n"


def _name(dtype: str) -> str:
    """What of a name needs no quotes in a CSV file, whatever a trace says."""
    return re.sub(r"[^A-Za-z0-9._]", "", dtype)
