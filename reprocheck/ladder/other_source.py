"""Compare the user's files of two separate recordings, line by line."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher, unified_diff
from itertools import zip_longest
from pathlib import Path

from reprocheck.ladder.sources import both_sides
from reprocheck.model import ChangedLine, Check, SourceDifference, SourceLine

MOST_FILES, MOST_LINES, MOST_CHANGED = 20, 120, 3
"""Files that are shown, lines of the diff of one, and lines of it that are quoted."""
_TEXT = 160


def other_sources(check: Check, folder: Path) -> tuple[SourceDifference, ...]:
    """Return the files that differ between the two recordings, those with differing code first.

    Empty if one of the recordings holds no files.
    """
    if not all(side.sources for side in check.record.compared):
        return ()
    differences = [
        _difference(name, first, second)
        for name, first, second in both_sides(check, folder)
        if first != second
    ]
    return tuple(sorted(differences, key=lambda one: (one.same_code, one.file))[:MOST_FILES])


def _difference(name: str, first: str | None, second: str | None) -> SourceDifference:
    one, other = (first or "").splitlines(), (second or "").splitlines()
    diff = list(unified_diff(one, other, f"run 1/{name}", f"run 2/{name}", lineterm=""))
    shown = SourceDifference(
        file=name,
        diff="\n".join(diff[:MOST_LINES]) + "\n",
        left_out=max(len(diff) - MOST_LINES, 0),
    )
    if first is None or second is None:
        return replace(shown, only_in=2 if first is None else 1)
    lines_changed = []
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    for tag, start, end, other_start, other_end in blocks:
        if tag == "equal":
            continue
        lines = _lines(name, one, start, end)
        both = zip_longest(lines, _lines(name, other, other_start, other_end))
        lines_changed += [ChangedLine(first=first, second=second) for first, second in both]
    changed = tuple(lines_changed)[:MOST_CHANGED]
    try:
        same_code = ast.dump(ast.parse(first)) == ast.dump(ast.parse(second))
    except (SyntaxError, ValueError, RecursionError):
        same_code = False
    return replace(shown, same_code=same_code, changed=changed)


def _lines(name: str, lines: Sequence[str], start: int, end: int) -> list[SourceLine]:
    return [
        SourceLine(file=name, line=number, text=text.strip()[:_TEXT])
        for number, text in enumerate(lines[start:end], start=start + 1)
    ]
