"""One output stream: what it can show (colour, width, characters) and writing to it.

Nobody else asks a stream what it is.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import TextIO

from reprocheck.errors import ReportError

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
WIDEST = 100
"""Longer lines are hard to read; who wants them says so with COLUMNS, off a terminal."""
NARROWEST = 40
PLAIN_WIDTH = 80
FULL = "Send it to a place that has space."
_OWN = f"\x1b{os.urandom(8).hex()}"
"""Stands for the escape character in what this module writes itself: no text from elsewhere can
hold it.
"""
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # ESC, BEL, carriage return, C1: they steer a terminal
    # they hide or turn text around
    "\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
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


class Stream:
    """A text stream with its abilities: `tty`, `color`, `unicode`, `width`.

    Writing to a stream that nobody reads any more is silent.
    """

    def __init__(self, file: TextIO, *, color: str = "auto") -> None:
        self.file = file
        self.tty = _is_terminal(file)
        self.color = _wants_color(self.tty, color)
        self.unicode = (
            (getattr(file, "encoding", None) or "ascii").lower().replace("-", "").startswith("utf")
        )
        self.width = (
            min(_columns(file) or _asked_width() or PLAIN_WIDTH, WIDEST)
            if self.tty
            else _asked_width() or PLAIN_WIDTH
        )

    def write(self, text: str) -> None:
        """Writes `text`: characters that the encoding has, and none that steers the terminal.

        ReportError where stdout has no room.
        """
        shown = "\x1b".join(harmless(part) for part in self.fit(text).split(_OWN))
        self._put(shown)

    def live(self, text: str = "") -> None:
        """Replaces the row of the terminal that the cursor is in."""
        rest = harmless(self.fit(text))
        dimmed = f"\x1b[{CODES['dim']}m{rest}\x1b[0m" if self.color and rest else rest
        self._put(f"\r\x1b[2K{dimmed}")

    def data(self, data: bytes) -> None:
        """Writes a report: byte for byte into a file or a pipe, as text on a terminal."""
        if self.tty:
            self.write(data.decode("utf-8", "replace"))
        else:
            self._put(data)

    def raw(self, data: bytes) -> None:
        """Passes on what the user's script printed, byte for byte."""
        self._put(data)

    def _put(self, shown: str | bytes) -> None:
        try:
            if isinstance(shown, str):
                self.file.write(shown)
            elif binary := getattr(self.file, "buffer", None):
                self.file.flush()
                binary.write(shown)
            else:
                self.file.write(shown.decode("utf-8", "replace"))
            self.file.flush()
        except BrokenPipeError:
            silence(self.file)
        except OSError as error:
            silence(self.file)
            if self.file is sys.stdout:
                raise ReportError(
                    f"Standard output cannot be written: {error.strerror or error}.", FULL
                ) from None

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
        return f"{_OWN}[{';'.join(CODES[word] for word in style.split())}m{text}{_OWN}[0m"

    def line(self, text: str = "", style: str = "") -> None:
        """Writes a line as it stands."""
        self.write(self.style(text, style) + "\n")

    def paragraph(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Writes text wrapped to the width; words are never broken."""
        for row in self.wrapped(text, indent):
            self.line(row, style)

    def labelled(
        self, label: str, text: str, style: str = "", *, indent: int = 0, label_width: int = 0
    ) -> None:
        """Writes `label text`, wrapped, with the text as a column of its own where the label is
        short.
        """
        for row in self.labelled_rows(label, text, style, indent=indent, label_width=label_width):
            self.line(row)

    def labelled_rows(
        self,
        label: str,
        text: str,
        style: str = "",
        *,
        indent: int = 0,
        label_width: int = 0,
        most: int | None = None,
        end: str = "",
    ) -> list[str]:
        """The rows that `labelled` writes, `most` of them at most."""
        column = indent + max(label_width, len(label)) + (1 if not label_width else 2)
        rows = self.wrapped(text, column, most, end)
        first = rows[0][column:] if rows else ""
        head = " " * indent + self.style(label, style) + " " * (column - indent - len(label))
        return [head + first, *rows[1:]]

    def wrapped(self, text: str, indent: int, most: int | None = None, end: str = "") -> list[str]:
        """The rows of a text at an indent; line breaks of the text are kept.

        Of more than `most` rows the first, the last one cut.

        `end` follows the text, also where that is cut.
        """
        rows = self._all_rows(text + end, indent)
        if most is None or len(rows) <= most:
            return rows
        more = self.fit(f" …{end}")
        room = max(self.width, indent + 20) - len(more)
        return [*rows[: most - 1], at_word(rows[most - 1], room) + more]

    def _all_rows(self, text: str, indent: int) -> list[str]:
        space = " " * indent
        width = max(self.width, indent + 20)
        rows: list[str] = []
        for part in self.fit(text).split("\n"):
            rows += textwrap.wrap(
                part,
                width,
                initial_indent=space,
                subsequent_indent=space,
                break_long_words=False,
                break_on_hyphens=False,
            ) or [""]
        return rows

    def clip(self, text: str) -> str:
        """`text` cut to fit one row of the terminal."""
        return self.cut(text, self.width - 1)

    def cut(self, text: str, room: int) -> str:
        """`text` in characters that this stream can show, cut to `room` of them."""
        text, more = self.fit(text), self.fit("…")
        return text if len(text) <= room else text[: max(0, room - len(more))].rstrip() + more

    def cut_head(self, text: str, room: int) -> str:
        """The end of `text` in characters that this stream can show, cut to `room` of them: of a
        path and a line what names the line.
        """
        text, more = self.fit(text), self.fit("…")
        return text if len(text) <= room else more + text[len(text) - max(0, room - len(more)) :]


def at_word(text: str, room: int) -> str:
    """The beginning of a text in `room` characters: whole words, unless the last one alone takes
    half of the room.
    """
    if len(text) <= room:
        return text.rstrip()
    end = text.rfind(" ", room // 2, room + 1)
    return text[: end if end >= 0 else room].rstrip()


def harmless(text: str) -> str:
    """`text` with the characters escaped that would steer a terminal, hide text or turn it
    around.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def silence(file: TextIO) -> None:
    """Nobody reads this stream any more (`| head`): what is still written to it, at exit too, goes
    nowhere.
    """
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


def _columns(file: TextIO) -> int:
    """The width of a terminal; 0 where it does not know it."""
    try:
        return os.get_terminal_size(file.fileno()).columns
    except (OSError, ValueError):
        return 0


def _asked_width() -> int:
    """What the user wants by the variable COLUMNS; 0 where that is not set, or no number that a
    line fits into.
    """
    asked = os.environ.get("COLUMNS", "")
    return max(int(asked), NARROWEST) if asked.isdecimal() and int(asked) else 0


def standard_error(color: str = "auto") -> Stream:
    """stderr, for progress and errors."""
    return Stream(sys.stderr, color=color)


def standard_output(color: str = "auto") -> Stream:
    """stdout, for the verdict and data."""
    return Stream(sys.stdout, color=color)
