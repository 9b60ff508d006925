"""The lines of a trace file, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from reprocheck.files.limits import open_limited
from reprocheck.trace.events import LONGEST_LINE

_BUFFER = 1 << 17
"""Bytes that are read at once: they stay in the cache of a processor while they are looked at."""


def opened(path: Path) -> BinaryIO:
    """Return the file, to be read line by line. Raises OSError."""
    return open_limited(path, buffer=_BUFFER)


def lines(stream: BinaryIO) -> Iterator[bytes]:
    """Return each line with its end.

    A last line may lack its end, and more than that. One that is too long comes in parts, of which
    the last alone has an end.
    """
    # cutting lines out of the buffer is done in C; a loop here would take longer than what is done
    # with most of them
    return iter(partial(stream.readline, LONGEST_LINE), b"")


def whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Return the lines that have their ends, but for parts of one that is too long in a file that
    ends with a whole one.
    """
    last = max(os.fstat(stream.fileno()).st_size - 1, 0)
    if os.pread(stream.fileno(), 1, last) == b"\n":
        return lines(stream)
    return filter(is_whole, lines(stream))


def is_whole(line: bytes) -> bool:
    """Return whether a line has its end."""
    return line.endswith(b"\n")
