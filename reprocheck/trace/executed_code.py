"""Read which of the user's code ran, and when.

The `ran` events of the levels `module` and `op`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reprocheck.trace.lines import lines, opened

_MARK = b'{"e":"ran"'


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """Hold one `ran` event: which of the user's code had run.

    at     offset of the event's line in the trace file; facts at larger offsets came later
    files  names of files that were imported
    lines  (file, line) of the functions that were running, at the line that they had reached
    done   (file, first line) of functions that were entered and left
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
    """Return the `ran` events of a trace file in order; nothing if the file cannot be read.

    Damaged lines are left out.
    """
    reached: list[Ran] = []
    at = 0
    try:
        with opened(path) as stream:
            for line in lines(stream):
                if line.startswith(_MARK):
                    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                        event = _DECODER.decode(line)
                        ran = Ran(
                            at=at,
                            iteration=event.iteration,
                            files=tuple(event.files),
                            lines=tuple(map(_place, event.lines)),
                            done=tuple(map(_place, event.done)),
                        )
                        reached.append(ran)
                at += len(line)
    except OSError:
        return ()
    return tuple(reached)


def _place(text: str) -> tuple[str, int]:
    file, _, line = text.rpartition(":")
    return file, int(line) if line.isdecimal() else 0
