"""What a patch does, as one line: the fix that is printed is the one that `--fix` makes."""

from __future__ import annotations

import difflib
import io
import tokenize
from collections.abc import Sequence

from reprocheck.model.letters import small

LONGEST = 160
"""Characters of a line of code that is shown."""
MOST_CHANGES = 3
"""Changes of a file that one line tells."""

IMPORTS = ("import ", "from ")

Change = tuple[str, int, int, int, int]
"""Kind, and the lines of the old and the new text: as `difflib` gives them."""


def described(before: str, after: str, line: int) -> str | None:
    """What becomes of the text of a file by one patch, for a finding in a line of it; None where
    that takes more than a line to say.

    `line` is 0 for a finding in another file.
    """
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    said = []
    for change in matcher.get_opcodes():
        if change[0] == "equal" or not _code(new[change[3] : change[4]]):
            continue
        told = _told(old, new, change, line)
        if told is None:
            return None
        said.append(told)
    if not said or len(said) > MOST_CHANGES:
        return None
    first, *others = [*said, *_imported(old, new)]
    return ", and ".join([first, *map(small, others)]) + "."


def _imported(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """What the new text imports besides, as one change."""
    added = [line.strip() for line in new if line.startswith(IMPORTS) and line not in old]
    return [f"Add `{'; '.join(added)}` at the top"] if added else []


def _told(old: Sequence[str], new: Sequence[str], change: Change, line: int) -> str | None:
    """One change in words, without the stop at its end; None where that takes more than a line."""
    kind, first, last, start, end = change
    code = "; ".join(map(_without_comment, _code(new[start:end])))
    if len(code) > LONGEST or "`" in code:
        return None
    if kind == "insert":
        above = _last_with_text(old[:first])
        return f"Add `{code}` below line {above}" if above else f"Add `{code}` at the top"
    if last - first != 1:
        return None
    return f"Write `{code}`" if line == last else f"Write `{code}` in line {last}"


def _last_with_text(lines: Sequence[str]) -> int:
    """The number of the last line that is not empty; 0 where all are."""
    number = len(lines)
    while number and not lines[number - 1].strip():
        number -= 1
    return number


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
    stripped = [line.strip() for line in lines]
    return [line for line in stripped if line and not line.startswith(IMPORTS)]
