"""What a patch does to a text, as a few changes of single lines that can be told in a line."""

from __future__ import annotations

import ast
import difflib
import io
import tokenize
from contextlib import suppress
from operator import attrgetter

from reprocheck.scan.fix_words import TextChange
from reprocheck.scan.index import last_line, within

LONGEST = 160
"""Characters of a line of code that is shown."""
MOST_CHANGES = 3
"""Changes of a file that one line tells."""

IMPORTS = ("import ", "from ")


def changes_of(before: str, after: str) -> tuple[TextChange, ...]:
    """Return the changes that turn a text into another one, imports last.

    None if they take more than a line to tell.
    """
    old, new = before.splitlines(), after.splitlines()
    tree = ast.parse(after)
    changes = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        stripped = filter(None, map(str.strip, new[start:end]))
        lines = [line for line in stripped if not line.startswith(IMPORTS)]
        if not lines or kind == "equal":
            continue
        statement = _cut(tree, start + 1, end)
        if statement is not None:
            # a part of a statement: its first line as a whole can be pasted
            kind = "replace"
            last = statement.lineno + first - start
            first = last - 1
            rows = ast.unparse(statement).splitlines()
            lines = [next(row for row in rows if not row.startswith("@"))]
        code = "; ".join(map(_without_comment, lines))
        is_one_line = kind == "insert" or last - first == 1
        if not is_one_line or len(code) > LONGEST or "`" in code or not is_whole(code):
            return ()
        if kind == "insert":
            with_text = [number for number, line in enumerate(old[:first], 1) if line.strip()]
            changes.append(TextChange("add", code, with_text[-1] if with_text else 0))
        else:
            changes.append(TextChange("write", code, last))
    if not 0 < len(changes) <= MOST_CHANGES:
        return ()
    imports = [line.strip() for line in new if line.startswith(IMPORTS) and line not in old]
    if imports:
        changes.append(TextChange("import", "; ".join(imports)))
    return tuple(changes)


def is_whole(code: str) -> bool:
    """Return whether a line of code is Python by itself, or the head of a block."""
    for line in (code, f"{code} pass", f"{code.removeprefix('el')} pass"):
        with suppress(SyntaxError):
            ast.parse(line)
            return True
    return False


def _cut(tree: ast.Module, first: int, last: int) -> ast.stmt | None:
    """Return the statement of which some lines hold a part, but not the whole or its whole head."""
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
    """Return the last line of a statement; of a compound statement, the last line of its head."""
    match getattr(statement, "body", None):
        case [ast.stmt() as inner, *_] if inner.lineno > statement.lineno:
            return inner.lineno - 1
    return last_line(statement)


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
