"""The lines of unified differences, with the places that they have in both files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HEADS = ("--- ", "+++ ")


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffLine:
    """A line of a hunk.

    sign           a space, `-` or `+`
    file           as the head of the difference names it, without the part before its first slash
    head           that part: `a`, `b`, or the name of a side
    before, after  its number in the first and in the second file, from 1; of a line that one of
                   them lacks, that of the next one there
    """

    sign: str
    text: str
    file: str
    head: str
    before: int
    after: int


def lines(diff: str) -> Iterator[DiffLine]:
    """Yield the lines of all hunks; lines outside of a hunk are left out."""
    head = file = ""
    before = after = end_before = end_after = 0
    for row in diff.splitlines():
        sign, text = row[:1] or " ", row[1:]
        hunk = _HUNK.match(row)
        is_inside = before < end_before or after < end_after
        if not is_inside and row.startswith(_HEADS):
            head, _, file = row[len(_HEADS[0]) :].strip().partition("/")
        elif not is_inside and hunk is not None:
            before, after = int(hunk[1]), int(hunk[3])
            end_before, end_after = before + int(hunk[2] or 1), after + int(hunk[4] or 1)
        elif is_inside and sign in " -+":
            yield DiffLine(sign=sign, text=text, file=file, head=head, before=before, after=after)
            before += sign != "+"
            after += sign != "-"
