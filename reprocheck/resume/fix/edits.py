"""Text that is put into a script: everything else in it stays as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

Place = tuple[int, int]
"""A line from 1, and bytes from its start; `_END`: up to its end."""
_END = -1


@dataclass(frozen=True, slots=True)
class Edit:
    """Text in place of what stands between two places, which may be the same."""

    first: Place
    last: Place
    text: str


def before(statement: ast.stmt, lines: Sequence[str]) -> Edit:
    """Return lines above a statement, with its indentation."""
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    top = (min([statement.lineno, *(one.lineno for one in decorators)]), 0)
    indent = " " * statement.col_offset
    return Edit(top, top, "".join(f"{indent}{row}\n" for row in lines))


def behind(statement: ast.stmt, lines: Sequence[str]) -> Edit:
    """Return lines below a statement, with its indentation."""
    end = (statement.end_lineno or 0, _END)
    indent = "\n" + " " * statement.col_offset
    return Edit(end, end, "".join(indent + row for row in lines))


def following(node: ast.expr, text: str) -> Edit:
    """Return text right behind an expression."""
    end = _end(node)
    return Edit(end, end, text)


def instead(node: ast.expr, text: str) -> Edit:
    """Return text in place of an expression."""
    return Edit((node.lineno, node.col_offset), _end(node), text)


def _end(node: ast.expr) -> Place:
    return node.end_lineno or 0, node.end_col_offset or 0


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all of it. Of two edits of one place the first stands first."""
    data = text.encode()
    lines = data.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]

    def offset(place: Place) -> int:
        line, column = place
        if column == _END:
            column = len(lines[line - 1].rstrip(b"\r\n"))
        return starts[line - 1] + column

    placed = [(offset(one.first), number, one) for number, one in enumerate(edits)]
    for start, _, one in sorted(placed, reverse=True):
        data = data[:start] + one.text.encode() + data[offset(one.last) :]
    return data.decode()
