"""Break text with characters that take two columns, such as Chinese, into rows.

A row may end between them, except before a mark that no row begins with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_OPENING, _CLOSING = "（《“‘「", "，。；：、！？）》”’」"
_PIECES = re.compile(rf"\s+|[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPENING}]+)[{_CLOSING}]*|\S")
"""What a row does not end within: a word, or one wide character, with the marks beside it."""


def wrapped(text: str, width: int) -> list[str]:
    """Return the rows of a text, none wider than `width` columns unless one word is."""
    return list(_rows(text, width)) or [""]


def _rows(text: str, width: int) -> Iterator[str]:
    row = ""
    for piece in _PIECES.findall(text):
        if row.strip() and cell_len((row + piece).rstrip()) > width:
            yield row.rstrip()
            row = ""
        row += piece.lstrip() if not row else piece
    if row.strip():
        yield row.rstrip()
