"""One output stream: what it can show (colour, width, characters) and writing to it. Nobody else asks a stream what it is."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import TextIO

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
WIDEST = 100
PLAIN_WIDTH = 80
CLEAR_LINE = "\r\x1b[2K"
ASCII = str.maketrans(
    {
        "·": "-",
        "…": "...",
        "–": "-",
        "—": "-",
        "−": "-",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "×": "x",
        "±": "+/-",
        "µ": "u",
        "│": "|",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "�": "?",
    }
)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Stream:
    """A text stream with its abilities: `tty`, `color`, `unicode`, `width`. Writing to a stream that nobody reads any more is silent."""

    def __init__(self, file: TextIO, *, color: str = "auto") -> None:
        self.file = file
        self.tty = _is_terminal(file)
        self.color = _wants_color(self.tty, color)
        self.unicode = (getattr(file, "encoding", None) or "ascii").lower().replace("-", "").startswith("utf")
        self.width = _width(file) if self.tty else PLAIN_WIDTH

    def write(self, text: str) -> None:
        """Writes `text`, in characters that the stream's encoding has."""
        try:
            self.file.write(self.fit(text))
            self.file.flush()
        except BrokenPipeError:
            silence(self.file)

    def fit(self, text: str) -> str:
        """`text` in characters that this stream can show."""
        if self.unicode:
            return text.encode("utf-8", "replace").decode()
        encoding = getattr(self.file, "encoding", None) or "ascii"
        return text.translate(ASCII).encode(encoding, "replace").decode(encoding)

    def style(self, text: str, style: str) -> str:
        """`text` in a style such as `bold red`, if this stream shows colours."""
        if not (self.color and style and text):
            return text
        return f"\x1b[{';'.join(CODES[word] for word in style.split())}m{text}\x1b[0m"

    def line(self, text: str = "", style: str = "") -> None:
        """Writes a line as it stands."""
        self.write(self.style(text, style) + "\n")

    def paragraph(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Writes text wrapped to the width; words are never broken."""
        for row in self.wrapped(text, indent):
            self.line(row, style)

    def labelled(self, label: str, text: str, style: str = "", *, indent: int = 0, label_width: int = 0) -> None:
        """Writes `label text`, wrapped, with the text as a column of its own where the label is short."""
        column = indent + max(label_width, len(label)) + (1 if not label_width else 2)
        rows = self.wrapped(text, column)
        first = rows[0][column:] if rows else ""
        self.line(" " * indent + self.style(label, style) + " " * (column - indent - len(label)) + first)
        for row in rows[1:]:
            self.line(row)

    def wrapped(self, text: str, indent: int) -> list[str]:
        """The rows of a text at an indent; line breaks of the text are kept."""
        space = " " * indent
        width = max(self.width, indent + 20)
        rows: list[str] = []
        for part in text.split("\n"):
            rows += textwrap.wrap(
                part, width, initial_indent=space, subsequent_indent=space, break_long_words=False, break_on_hyphens=False
            ) or [""]
        return rows

    def clip(self, text: str) -> str:
        """`text` cut to fit one row of the terminal."""
        room = self.width - 1
        return text if len(text) <= room else text[: room - 1] + "…"


def visible(text: str) -> str:
    """`text` without colour codes."""
    return _ANSI.sub("", text)


def silence(file: TextIO) -> None:
    """Nobody reads this stream any more (`| head`): what is still written to it, at exit too, goes nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())
    except (OSError, ValueError):
        return


def _is_terminal(file: TextIO) -> bool:
    try:
        return file.isatty()
    except (AttributeError, ValueError):
        return False


def _wants_color(tty: bool, color: str) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return tty and os.environ.get("TERM") != "dumb"


def _width(file: TextIO) -> int:
    try:
        columns = os.get_terminal_size(file.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return min(columns or PLAIN_WIDTH, WIDEST)


def standard_error(color: str = "auto") -> Stream:
    """stderr, for progress and errors."""
    return Stream(sys.stderr, color=color)


def standard_output(color: str = "auto") -> Stream:
    """stdout, for the verdict and data."""
    return Stream(sys.stdout, color=color)
