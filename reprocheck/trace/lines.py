"""The lines of a trace file, one after the other."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from reprocheck.files.limits import open_limited
from reprocheck.trace.events import LONGEST_LINE

_BUFFER = 1 << 17
"""Bytes that are read at once: they stay in the cache of a processor while they are looked at."""


def opened(path: Path) -> BinaryIO:
    """Return a trace file, opened to be read line by line. Raises OSError."""
    return open_limited(path, buffer=_BUFFER)


def lines(stream: BinaryIO) -> Iterator[bytes]:
    """Return each line of a trace file with its line end.

    The last line may lack its line end, or be cut in the middle. A line that is too long comes in
    parts, of which only the last part has a line end.
    """
    # cutting lines out of the buffer is done in C; a loop here would take longer than what is done
    # with most of them
    return iter(partial(stream.readline, LONGEST_LINE), b"")


def whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Return only the lines that have a line end.

    In a file that ends with a line end, the parts of a line that is too long are returned, too.
    """
    last = max(os.fstat(stream.fileno()).st_size - 1, 0)
    if os.pread(stream.fileno(), 1, last) == b"\n":
        return lines(stream)
    return filter(is_whole, lines(stream))


def is_whole(line: bytes) -> bool:
    """Return whether a line ends with a line end, and so was written completely."""
    return line.endswith(b"\n")


LONGEST_EXACT = 20_000
"""Characters of a number that a double does not hold; the longest of a `longdouble` takes 8,300."""
_MOST_DTYPES = 255


def number(value: float | str) -> float:
    """Return a number of a trace as a float; NaN for anything that is no number."""
    try:
        return float(value)
    except ValueError:
        return float("nan")


def code_of(dtypes: dict[str, int], name: str) -> int:
    """Return the code of a dtype, from 0 to 255; a new dtype gets the next free code.

    All dtypes beyond 255 share the code of `unknown`.
    """
    if name not in dtypes and len(dtypes) >= _MOST_DTYPES:
        name = "unknown"
    return dtypes.setdefault(name, min(len(dtypes), _MOST_DTYPES))


@contextmanager
def paused() -> Iterator[None]:
    """Pause the garbage collector within the `with` block; afterwards it is as before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
