"""What text of source code is made of: lines, the cells of a notebook, why it cannot be read."""

from __future__ import annotations

import re
from dataclasses import dataclass


class UnreadableError(Exception):
    """A file that cannot be scanned: `reason`, and the line where one is known."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A code cell of a notebook: its number among all cells from 1, and where it begins in the
    joined text.
    """

    number: int
    first_line: int


def split(text: str) -> list[str]:
    """Return the lines as Python counts them: a form feed or a Unicode separator ends none."""
    return re.split(r"\r\n|\r|\n", text)
