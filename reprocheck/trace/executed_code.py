"""Which code of the user's ran, and when: the `ran` events of the deeper levels, read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from reprocheck.trace.lines import lines, opened

_MARK = b'{"e":"ran"'


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """What one event says. `at` is the offset of its line in the trace file: facts of that file
    with a larger one came later.

    files   names of files that were imported       lines   (file, line) under way
    done    (file, first line) of functions that were entered and left
    """

    at: int
    iteration: int
    files: tuple[str, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()
    done: tuple[tuple[str, int], ...] = ()


class _Line(msgspec.Struct, rename={"iteration": "i", "files": "f", "lines": "l", "done": "d"}):
    iteration: int = 0
    files: list[str] = []
    lines: list[str] = []
    done: list[str] = []


_DECODER: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)


def read_reached(path: Path) -> tuple[Ran, ...]:
    """Return what a trace file says of it, in order; nothing where it cannot be read.

    Lines that are damaged are left out.
    """
    try:
        with opened(path) as stream:
            found = [_ran(line, at) for at, line in _marked(stream)]
    except OSError:
        return ()
    return tuple(one for one in found if one is not None)


def _marked(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Offset and text of the lines that begin with the mark."""
    at = 0
    for line in lines(stream):
        if line.startswith(_MARK):
            yield at, line
        at += len(line)


def _ran(line: bytes, at: int) -> Ran | None:
    try:
        one = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return Ran(
        at=at,
        iteration=one.iteration,
        files=tuple(one.files),
        lines=tuple(map(_place, one.lines)),
        done=tuple(map(_place, one.done)),
    )


def _place(text: str) -> tuple[str, int]:
    file, _, line = text.rpartition(":")
    return file, int(line) if line.isdecimal() else 0
