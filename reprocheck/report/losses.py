"""losses.csv: every recorded loss, exact.

`pandas.read_csv` restores every bit (before pandas 3 with `float_precision="round_trip"`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reprocheck.model import Check, Trace

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("run", "rank", "iteration", "loss_index", "loss", "dtype")
ROWS = 50_000
FEW = 2_000


def chunks(check: Check) -> Iterator[bytes]:
    """The file in pieces of at most 50,000 losses, so that a million iterations are never held as
    text.
    """
    yield (",".join(COLUMNS) + "\n").encode()
    for run in check.runs:
        for trace in run.traces:
            total = max(trace.losses.ends[-1:], default=0)
            for start in range(0, total, ROWS):
                frame = table(run.number, trace, start, min(start + ROWS, total))
                yield _text(frame)


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
            "iteration": iteration + 1,
            "loss_index": index - np.where(iteration > 0, ends[iteration - 1], 0),
            "loss": np.asarray(series.values)[start:end],
            "dtype": np.array([_name(dtype) for dtype in series.dtypes], dtype=object)[
                np.asarray(series.dtype_of)[start:end]
            ],
        },
        columns=list(COLUMNS),
    )


def _text(frame: pd.DataFrame) -> bytes:
    if len(frame) > FEW:
        return _many(frame)
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
    losses = columns[COLUMNS.index("loss")]
    for index in np.flatnonzero(~np.isfinite(frame["loss"].to_numpy())).tolist():
        losses[index] = repr(losses[index])
    rows = msgspec.json.encode(list(zip(*columns, strict=True)))
    return rows[2:-2].replace(b"],[", b"\n").replace(b'"', b"") + b"\n"


def _name(dtype: str) -> str:
    """What of a name needs no quotes in a CSV file, whatever a trace says."""
    return re.sub(r"[^A-Za-z0-9._]", "", dtype)
