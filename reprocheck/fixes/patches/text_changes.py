"""What a patch does, as one line: the fix that is printed is the one that `--fix` makes."""

from __future__ import annotations

import ast
import difflib
import io
import tokenize
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import filterfalse
from operator import attrgetter

from reprocheck.language import joined, tr
from reprocheck.language.letters import small
from reprocheck.scan.index import last_line, within

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
    """Return what becomes of the text of a file by one patch, for a finding in a line of it; None
    where that takes more than a line to say.

    `line` is 0 for a finding in another file.
    """
    old, new = before.splitlines(), after.splitlines()
    said = [_told(change, line) for change in _changes(old, new, ast.parse(after))]
    if not all(said) or not 0 < len(said) <= MOST_CHANGES:
        return None
    first, *others = [*said, *_imported(old, new)]
    return tr("{sentence}.", sentence=joined(tr(", and "), (first, *map(small, others))))


def _changes(old: Sequence[str], new: Sequence[str], tree: ast.Module) -> Iterator[_Change]:
    """Yield the changes of a text that add code, each as code that can be pasted."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        stripped = filter(None, map(str.strip, new[start:end]))
        code = [line for line in stripped if not line.startswith(IMPORTS)]
        if not code or kind == "equal":
            continue
        cut = _cut(tree, start + 1, end)
        if cut is None:
            yield _Change(kind, old[:first], last, code)
            continue
        begins = cut.lineno + first - start
        lines = (line for line in ast.unparse(cut).splitlines() if not line.startswith("@"))
        yield _Change("replace", old[: begins - 1], begins, [next(lines)])


def is_whole(code: str) -> bool:
    """Return whether a line of code is Python by itself, or the head of a block."""
    for line in (code, f"{code} pass", f"{code.removeprefix('el')} pass"):
        with suppress(SyntaxError):
            ast.parse(line)
            return True
    return False


def _cut(tree: ast.Module, first: int, last: int) -> ast.stmt | None:
    """Return the statement of which some lines hold a part, and not the whole, or not all of its
    head.
    """
    for line in (first, last):
        around = (one for one in within(tree, ast.stmt) if one.lineno <= line <= last_line(one))
        statement = max(around, key=attrgetter("lineno"), default=None)
        if statement is None:
            continue
        ends = _end_of_head(statement)
        if line <= ends and not first <= statement.lineno <= ends <= last:
            return statement
    return None


def _end_of_head(statement: ast.stmt) -> int:
    """Return the last line of a statement, of one with a body that of its head."""
    match getattr(statement, "body", None):
        case [ast.stmt() as inner, *_] if inner.lineno > statement.lineno:
            return inner.lineno - 1
    return last_line(statement)


def _imported(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return what the new text imports besides, as one change."""
    imports = [line for line in new if line.startswith(IMPORTS)]
    added = map(str.strip, filterfalse(old.__contains__, imports))
    listed = "; ".join(added)
    if not listed:
        return []
    return [tr("Add `{listed}` at the top", listed=listed)]


def _told(change: _Change, line: int) -> str:
    """Return one change in words, without the stop at its end; empty where that takes more than a
    line.
    """
    code = "; ".join(map(_without_comment, change.code))
    if len(code) > LONGEST or "`" in code or not is_whole(code):
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
    """Return a line of code without the comment at its end."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(line).readline))
    except (tokenize.TokenError, SyntaxError):
        return line
    for token in tokens:
        if token.type == tokenize.COMMENT:
            return line[: token.start[1]].rstrip()
    return line.rstrip()
