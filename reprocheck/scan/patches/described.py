"""What a patch does, as one line: the fix that is printed is the one that `--fix` makes."""

from __future__ import annotations

import difflib
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import filterfalse

from reprocheck.language import joined, tr
from reprocheck.model.letters import small

LONGEST = 160
"""Characters of a line of code that is shown."""
MOST_CHANGES = 3
"""Changes of a file that one line tells."""

IMPORTS = ("import ", "from ")


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines of the old text, and the code that takes their place, without imports.

    kind    `replace`, `insert` or `delete`
    above   the lines of the old text above them
    last    the number of the last of them
    """

    kind: str
    above: Sequence[str]
    last: int
    code: Sequence[str]


def described(before: str, after: str, line: int) -> str | None:
    """What becomes of the text of a file by one patch, for a finding in a line of it; None where
    that takes more than a line to say.

    `line` is 0 for a finding in another file.
    """
    old, new = before.splitlines(), after.splitlines()
    said = [_told(change, line) for change in _changes(old, new)]
    if not all(said) or not 0 < len(said) <= MOST_CHANGES:
        return None
    first, *others = [*said, *_imported(old, new)]
    return tr("{sentence}.", sentence=joined(tr(", and "), (first, *map(small, others))))


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[_Change]:
    """The changes of a text that add code."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        code = _code(new[start:end])
        if code and kind != "equal":
            yield _Change(kind, old[:first], last, code)


def _imported(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """What the new text imports besides, as one change."""
    imports = [line for line in new if line.startswith(IMPORTS)]
    added = map(str.strip, filterfalse(old.__contains__, imports))
    listed = "; ".join(added)
    if not listed:
        return []
    return [tr("Add `{listed}` at the top", listed=listed)]


def _told(change: _Change, line: int) -> str:
    """One change in words, without the stop at its end; empty where that takes more than a line."""
    code = "; ".join(map(_without_comment, change.code))
    if len(code) > LONGEST or "`" in code:
        return ""
    if change.kind == "insert":
        return tr("Add `{code}` {place}", code=code, place=_place_below(change.above))
    lines = change.last - len(change.above)
    if lines != 1:
        return ""
    if line == change.last:
        return tr("Write `{code}`", code=code)
    return tr("Write `{code}` in line {line}", code=code, line=change.last)


def _place_below(lines: Sequence[str]) -> str:
    """Below the last of some lines that is not empty."""
    with_text = [number for number, line in enumerate(lines, 1) if line.strip()]
    if not with_text:
        return tr("at the top")
    return tr("below line {line}", line=with_text[-1])


def _without_comment(line: str) -> str:
    """A line of code without the comment at its end."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(line).readline))
    except (tokenize.TokenError, SyntaxError):
        return line
    for token in tokens:
        if token.type == tokenize.COMMENT:
            return line[: token.start[1]].rstrip()
    return line.rstrip()


def _code(lines: Sequence[str]) -> list[str]:
    """Lines without indentation, imports and empty ones."""
    stripped = filter(None, map(str.strip, lines))
    return [line for line in stripped if not line.startswith(IMPORTS)]
