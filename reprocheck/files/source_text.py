"""Describes source code as text: its lines, the cells of a notebook, and why it cannot be read."""

from __future__ import annotations

import re
from dataclasses import dataclass


class UnreadableError(Exception):
    """Report a file that cannot be scanned: `reason` says why, `line` where, if the line is
    known.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """Describe a code cell of a notebook: its number, and its first line in the joined text.

    The number counts all cells of the notebook from 1, those with text, too.
    """

    number: int
    first_line: int


def split(text: str) -> list[str]:
    """Return the lines of a text; as in Python, a form feed or a Unicode separator does not end a
    line.
    """
    return re.split(r"\r\n|\r|\n", text)
