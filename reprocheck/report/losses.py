"""losses.csv: every recorded loss, exact.

`pandas.read_csv` restores every bit (before pandas 3 with `float_precision="round_trip"`).
"""

from __future__ import annotations

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
            ends = trace.losses.ends
            for start in range(0, ends[-1] if len(ends) else 0, ROWS):
                frame = table(run.number, trace, start, min(start + ROWS, ends[-1]))
                yield _few(frame) if len(frame) <= FEW else _many(frame)


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
    return "".join(
        letter for letter in dtype if letter.isascii() and (letter.isalnum() or letter in "._")
    )
