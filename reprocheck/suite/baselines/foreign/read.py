"""Which format a file has, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.baselines.foreign import columns, events, megatron
from reprocheck.suite.baselines.foreign.points import Points

OF_TEXT: Mapping[str, Callable[[str], Iterable[Points]]] = {
    "megatron": megatron.read,
    "torchtitan": columns.read_columns,
    "csv": columns.read_csv,
}
EVENTS = "tensorboard"
FORMATS = (*OF_TEXT, EVENTS)


def read(path: Path, format: str | None = None) -> list[Points]:
    """The series of a file, or of a folder of event files.

    format  one of `FORMATS`; None: by what the file looks like

    Raises BaselineError where it cannot be read, or holds no series.
    """
    if format == EVENTS or (format is None and _holds_events(path)):
        return _from_events(path)
    text = _text(path)
    format = format or _format_of(text)
    try:
        found = list(OF_TEXT[format](text))
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise _unreadable(path, format, error) from None
    return _with_values(found, path)


def _holds_events(path: Path) -> bool:
    return path.is_dir() or "tfevents" in path.name


def _from_events(path: Path) -> list[Points]:
    try:
        files = events.files_of(path)
        found = list(events.read(files))
    except OSError as error:
        raise BaselineError(
            f"{path} cannot be read: {error.strerror or error}.", "Name another file."
        ) from None
    except ValueError as error:
        raise _unreadable(path, EVENTS, error) from None
    return _with_values(found, path)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BaselineError(
            f"{path} cannot be read: {error.strerror or error}.", "Name another file."
        ) from None
    except UnicodeDecodeError:
        raise BaselineError(
            f"{path} is no text.", f"The formats are {', '.join(FORMATS)} (--format)."
        ) from None


def _format_of(text: str) -> str:
    if megatron.is_golden(text):
        return "megatron"
    if columns.is_columns(text):
        return "torchtitan"
    return "csv"


def _unreadable(path: Path, format: str, error: Exception) -> BaselineError:
    return BaselineError(
        f"{path} cannot be read as {format}: {error}.",
        f"Name its format with --format, one of {', '.join(FORMATS)}, or correct the file.",
    )


def _with_values(found: list[Points], path: Path) -> list[Points]:
    series = [points for points in found if points.values]
    if not series:
        raise BaselineError(f"{path} holds no series.", "Name another file, or folder.")
    return series
