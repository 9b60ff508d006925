"""Which code of the user's ran, and when: the `ran` events of the deeper levels, read back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from reprocheck.files.limits import open_limited
from reprocheck.trace import events

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
    """What a trace file says of it, in order; nothing where it cannot be read.

    Lines that are damaged are left out.
    """
    found: list[Ran] = []
    at = 0
    try:
        with open_limited(path) as stream:
            while line := stream.readline(events.LONGEST_LINE):
                start, at = at, at + len(line)
                if line.startswith(_MARK) and (one := _ran(line, start)) is not None:
                    found.append(one)
    except OSError:
        return ()
    return tuple(found)


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
