"""What a patch replaces, region by region: for programs that make the change themselves."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, starmap, takewhile
from operator import eq

from reprocheck.scan.finding import Replaced

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""A line with its break; the last one may have none."""


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a text with their breaks, and where each begins, the empty one behind the last
    break included.
    """

    lines: Sequence[str]
    starts: Sequence[int]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column from 1 of a character."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


@dataclass(frozen=True, slots=True)
class _Change:
    """Whole lines that change: where they begin and end in the old text, and what they become."""

    first: int
    last: int
    text: str


def replaced(before: str, after: str) -> tuple[Replaced, ...]:
    """The regions of a text that differ in another one, from the top, with what stands there."""
    old, new = _lines(before), _lines(after)
    return tuple(_region(before, old, change) for change in _changes(old, new, after))


def _lines(text: str) -> _Lines:
    lines = _LINE.findall(text)
    starts = list(accumulate(map(len, lines), initial=0))
    if lines and not lines[-1].endswith(("\r", "\n")):
        starts.pop()
    return _Lines(lines, starts)


def _changes(old: _Lines, new: _Lines, after: str) -> Iterator[_Change]:
    before = list(accumulate(map(len, old.lines), initial=0))
    behind = list(accumulate(map(len, new.lines), initial=0))
    above = _alike(old.lines, new.lines)
    matcher = difflib.SequenceMatcher(None, old.lines[above:], new.lines[above:], autojunk=False)
    for kind, *ends in matcher.get_opcodes():
        first, last, start, end = (above + number for number in ends)
        if kind != "equal":
            yield _Change(before[first], before[last], after[behind[start] : behind[end]])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines or characters are the same from the first on."""
    return sum(takewhile(bool, starmap(eq, zip(one, other, strict=False))))


def _region(before: str, lines: _Lines, change: _Change) -> Replaced:
    """The part of some lines that really changes."""
    gone, text = before[change.first : change.last], change.text
    head = _alike(gone, text)
    head -= _parts_break(before, change.first + head)
    gone, text = gone[head:], text[head:]
    tail = _alike(gone[::-1], text[::-1])
    tail -= _parts_break(before, change.last - tail)
    line, column = lines.place(change.first + head)
    end_line, end_column = lines.place(change.last - tail)
    text = text[: len(text) - tail]
    return Replaced(line=line, column=column, end_line=end_line, end_column=end_column, text=text)


def _parts_break(text: str, offset: int) -> bool:
    """Whether a place is in the middle of a line break, where no region may begin or end."""
    return text[max(0, offset - 1) : offset + 1] == "\r\n"
