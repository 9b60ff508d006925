"""What a terminal shows after it was written to."""

from __future__ import annotations

import re

_STEP = re.compile(r"\x1b\[(?P<number>[\d;]*)(?P<what>[A-Za-z])|\x1b\[\?25[lh]|(?P<one>[\r\n])")


def rows(drawn: str) -> list[str]:
    """The rows of a terminal that is high enough: knows line breaks, a cursor that goes up, erased
    rows and colours, and raises ValueError at anything else that steers it.
    """
    screen = [""]
    row = column = at = 0
    for step in _STEP.finditer(drawn):
        row, column = _put(screen, row, column, drawn[at : step.start()])
        at = step.end()
        if step["one"] == "\r":
            column = 0
        elif step["one"] == "\n":
            row, column = row + 1, 0
            screen += [""] * (row + 1 - len(screen))
        elif step["what"] == "A":
            row -= int(step["number"] or 1)
        elif step["what"] == "K":
            screen[row] = ""
    _put(screen, row, column, drawn[at:])
    while screen and not screen[-1].strip():
        screen.pop()
    return screen


def _put(screen: list[str], row: int, column: int, text: str) -> tuple[int, int]:
    if "\x1b" in text:
        raise ValueError(f"something steers the terminal: {text!r}")
    before = screen[row].ljust(column)
    screen[row] = before[:column] + text + before[column + len(text) :]
    return row, column + len(text)
