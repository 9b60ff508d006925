"""Which format a file has, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from reprocheck.files.limits import MIB, whole
from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.baselines.foreign import formats
from reprocheck.suite.baselines.foreign.points import Points

OF_TEXT: Mapping[str, Callable[[str], Iterable[Points]]] = {
    "megatron": formats.read,
    "torchtitan": formats.read_columns,
    "csv": formats.read_csv,
}
FORMATS = tuple(OF_TEXT)
LARGEST_TEXT = 64 * MIB
"""Bytes of a file that is read as text: curves of a million steps take less."""
_LONGEST_REASON = 300
"""Characters."""
_NOT_READABLE = (ValueError, KeyError, TypeError, OverflowError, RecursionError)
"""What is raised where a file has another content than its format."""


def read(path: Path, format: str | None = None) -> list[Points]:
    """Return the series of a file.

    format  one of `FORMATS`; None: by what the file looks like

    Raises BaselineError if it cannot be read, or holds no series.
    """
    text = _text(path)
    if format is None:
        format = "torchtitan" if formats.is_columns(text) else "csv"
        if formats.is_golden(text):
            format = "megatron"
    try:
        found = list(OF_TEXT[format](text))
    except _NOT_READABLE as error:
        reason = str(error)  # which may cite the whole file
        if len(reason) > _LONGEST_REASON:
            reason = f"{reason[:_LONGEST_REASON]}…"
        raise BaselineError(
            f"{path} cannot be read as {format}: {reason}.",
            f"Name its format with --format, one of {', '.join(FORMATS)}, or correct the file.",
        ) from None
    series = [points for points in found if points.values]
    if not series:
        raise BaselineError(f"{path} holds no series.", "Name another file.")
    return series


def _text(path: Path) -> str:
    try:
        return whole(path, LARGEST_TEXT).decode("utf-8-sig")
    except OSError as error:
        raise BaselineError(
            f"{path} cannot be read: {error.strerror or error}.", "Name another file."
        ) from None
    except UnicodeDecodeError:
        raise BaselineError(
            f"{path} is no text.",
            f"The formats are {', '.join(FORMATS)} (--format). TensorBoard saves a curve as CSV.",
        ) from None
