"""One output stream: what it can show (colour, width, characters), and writing to it with rich.

Nobody else asks a stream what it is. What stands in a text is never read as markup, and characters
that steer a terminal are escaped before rich sees them. rich is imported when something is drawn
with it: help, version and data need none of it.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable
from functools import cached_property
from typing import IO, TYPE_CHECKING, TextIO, cast

from reprocheck.errors import ReportError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text

WIDEST = 100
"""Longer lines are hard to read; COLUMNS asks for them, off a terminal."""
NARROWEST = 40
UNLIMITED = 10_000
NARROWEST_COLUMN = 20
"""Columns that wrapped text has in any case, however deep it is indented."""
PLAIN_WIDTH = 80
REDRAWS = 8
"""Drawings of the live line a second."""
FULL = "Redirect it to a disk with free space."
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # ESC, BEL, carriage return, C1: they steer a terminal
    # they hide or turn text around
    "\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
"""Of the styles that are used here."""
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
    """Write to a text stream, within what it can show.

    tty      whether the stream is a terminal
    live     whether rows can be drawn again in place
    color    whether the stream shows colours
    unicode  whether the stream can show characters beyond ASCII
    width    the columns of a row

    Writing to a stream whose reader has gone (`| head`) does nothing.
    """

    def __init__(self, file: TextIO, *, color: str = "auto") -> None:
        self.file = file
        self.tty = _is_terminal(file)
        self.live = self.tty and os.environ.get("TERM") != "dumb"
        self.color = _wants_color(self.live, color)
        self.encoding = getattr(file, "encoding", None) or "ascii"
        self.unicode = self.encoding.lower().replace("-", "").startswith("utf")
        self.width = _width(file, tty=self.tty)

    @cached_property
    def rich(self) -> Console:
        """Return the rich console that draws on this stream.

        It is told what the stream can show, because rich alone would use the width of another
        stream's terminal.
        """
        from rich.console import Console

        return Console(
            file=cast("IO[str]", _Guarded(self)),
            width=self.width,
            force_terminal=self.tty,
            force_interactive=self.live,
            force_jupyter=False,
            color_system="standard" if self.color else None,
            no_color=not self.color,
            markup=False,
            emoji=False,
            highlight=False,
        )

    def write(self, text: str) -> None:
        """Write `text` in characters that the encoding has, with control characters escaped.

        Raises ReportError if stdout has no room.
        """
        self.put(harmless(self.fit(text)))

    def data(self, data: bytes) -> None:
        """Write a report: byte for byte into a file or a pipe, as text on a terminal."""
        if self.tty:
            self.write(data.decode("utf-8", "replace"))
        else:
            self.put(data)

    def raw(self, data: bytes) -> None:
        """Pass on what the user's script printed, byte for byte."""
        self.put(data)

    def put(self, shown: str | bytes) -> None:
        """Write to the underlying file; the only place where a write can fail."""
        try:
            self._write_and_flush(shown)
        except BrokenPipeError:
            silence(self.file)
        except OSError as error:
            silence(self.file)
            if self.file is sys.stdout:
                message = f"Standard output cannot be written: {error.strerror or error}."
                raise ReportError(message, FULL) from None

    def _write_and_flush(self, shown: str | bytes) -> None:
        if isinstance(shown, str):
            self.file.write(shown)
        elif binary := getattr(self.file, "buffer", None):
            self.file.flush()
            binary.write(shown)
        else:
            self.file.write(shown.decode("utf-8", "replace"))
        self.file.flush()

    def fit(self, text: str) -> str:
        """Return `text` in characters that this stream can show."""
        if self.unicode:
            return text.encode("utf-8", "replace").decode()
        return text.translate(ASCII).encode(self.encoding, "replace").decode(self.encoding)

    def text(self, text: str, style: str = "") -> Text:
        """Return `text` for rich: no markup, and only characters that this stream can show."""
        from rich.text import Text

        return Text(harmless(self.fit(text)), style)

    def joined(self, *parts: str | tuple[str, str]) -> Text:
        """Join parts, some with a style, into one text: `"at ", ("train.py:3", "bold")`."""
        from rich.text import Text

        pairs = (part if isinstance(part, tuple) else (part, "") for part in parts)
        return Text.assemble(*(self.text(*pair) for pair in pairs))

    def line(self, text: str | Text = "", style: str = "") -> None:
        """Write a row unchanged, to be copied: not wrapped, tabs kept."""
        if isinstance(text, str) and not self._has_rich:
            self.put(f"{self._styled(text, style)}\n")
            return
        from rich.segment import Segment, Segments

        row = self.text(text) if isinstance(text, str) else text.copy()
        row.stylize_before(style)
        segments = [*row.render(self.rich), Segment.line()]
        self.rich.print(Segments(segments), soft_wrap=True)

    def draw(self, table: Table, *, indent: int = 0) -> None:
        """Write a table at its full width: numbers and names are never cut."""
        from rich.text import Text

        options = self.rich.options.update(width=self.columns(table))
        for segments in self.rich.render_lines(table, options, pad=False):
            row = Text.assemble(*((one.text, one.style or "") for one in segments))
            row.rstrip()
            row.pad_left(indent)
            self.line(row)

    def columns(self, table: Table) -> int:
        """Return how wide a table is if nothing in it is wrapped or cut."""
        unlimited = self.rich.options.update(width=UNLIMITED)
        return self.rich.measure(table, options=unlimited).maximum

    def paragraph(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Write text wrapped to the width; words are never broken."""
        for row in self._spaced(text, indent):
            self.line(row, style)

    def labelled(
        self, label: str, text: str, style: str = "", *, indent: int = 0, label_width: int = 0
    ) -> None:
        """Write `label text`, wrapped; the text forms its own column if the label is short."""
        if self._has_rich:
            rows: list[str] | list[Text] = self.labelled_rows(
                label, text, style, indent=indent, label_width=label_width
            )
        else:
            column = _column(label, indent, label_width)
            first, *rows = self._spaced(text, column)
            space = " " * (column - indent - cells(label))
            self.put(f"{' ' * indent}{self._styled(label, style)}{space}{first[column:]}\n")
        for row in rows:
            self.line(row)

    def labelled_rows(
        self,
        label: str,
        text: str,
        style: str = "",
        *,
        indent: int = 0,
        label_width: int = 0,
    ) -> list[Text]:
        """Return the rows that `labelled` writes."""
        column = _column(label, indent, label_width)
        first, *more = self.wrapped(text, column)
        head = self.joined(" " * indent, (label, style), " " * (column - indent - cells(label)))
        return [head + first[column:], *more]

    def wrapped(self, text: str, indent: int = 0) -> list[Text]:
        """Return the rows of a text at an indent; line breaks of the text are kept."""
        return list(map(self.text, self._spaced(text, indent)))

    def _spaced(self, text: str, indent: int) -> list[str]:
        """Return the rows of `wrapped` without rich."""
        width = max(self.width - indent, NARROWEST_COLUMN)
        rows = [row for line in text.split("\n") for row in self._rows(line, width)]
        space = " " * indent
        return [f"{space}{row}" if row else "" for row in rows]

    @property
    def _has_rich(self) -> bool:
        """Return whether rich draws on this stream already, and so may keep a live row there."""
        return "rich" in self.__dict__

    def _styled(self, text: str, style: str) -> str:
        """Return what rich would write for a text in a style, without rich."""
        shown = harmless(self.fit(text))
        if not (shown and style and self.color):
            return shown
        codes = ";".join(map(_CODES.__getitem__, style.split()))
        return f"\x1b[{codes}m{shown}\x1b[0m"

    def _rows(self, line: str, width: int) -> list[str]:
        """Wrap one line into rows: rich would break a word longer than a row, such as a path."""
        shown = harmless(self.fit(line))
        if not shown.isascii():
            from reprocheck.cli import wide_characters

            return wide_characters.wrapped(shown, width)
        wrapped = textwrap.wrap(shown, width, break_long_words=False, break_on_hyphens=False)
        return wrapped or [""]

    def live_line(self, said: Callable[[], str]) -> Live:
        """Return a row that is redrawn again and again, cut to the width, and then removed."""
        from rich.live import Live

        return Live(
            get_renderable=lambda: self.text(self.cut(said(), self.width - 1), "dim"),
            console=self.rich,
            refresh_per_second=REDRAWS,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def bar(self) -> Progress:
        """Return a progress bar that is removed at the end: `scanning ━━━━━ 30 of 120 files`."""
        from rich.progress import BarColumn, Progress, TextColumn

        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed:,} of {task.total:,} files", markup=False),
            console=self.rich,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def cut(self, text: str, room: int) -> str:
        """Return `text` in characters that this stream can show, cut to `room` columns."""
        return self._cut(text, room, from_end=False)

    def cut_head(self, text: str, room: int) -> str:
        """Return the end of `text`, cut to `room` columns: a path keeps its line number."""
        return self._cut(text, room, from_end=True)

    def _cut(self, text: str, room: int, *, from_end: bool) -> str:
        from rich.cells import cell_len, set_cell_size

        text, more = harmless(self.fit(text)), self.fit("…")
        if cell_len(text) <= room:
            return text
        room = max(0, room - len(more))
        if from_end:
            return more + set_cell_size(text[::-1], room)[::-1]
        return set_cell_size(text, room).rstrip() + more


class _Guarded:
    """Wrap a stream's file for rich, so that a failed write is handled as in `Stream.put`."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        self._stream.put(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing, because every write flushes already."""

    def isatty(self) -> bool:
        return self._stream.tty


def _column(label: str, indent: int, label_width: int) -> int:
    """Return the column in which the text behind a label begins."""
    gap = 2 if label_width else 1
    return indent + max(label_width, cells(label)) + gap


def cells(text: str) -> int:
    """Return how many columns a text takes; a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """Pad a text with spaces to a width in columns."""
    return text + " " * (width - cells(text))


def harmless(text: str) -> str:
    """Escape the characters of `text` that would control a terminal, hide text or reverse it."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def silence(file: TextIO) -> None:
    """Redirect a stream that nobody reads any more (`| head`) to nowhere.

    Later writes, also at exit, then do not fail.
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


def _wants_color(live: bool, color: str) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "0") not in ("", "0")
    return forced or live


def _width(file: TextIO, *, tty: bool) -> int:
    """Return the columns of a row: of the terminal, else as the variable COLUMNS asks."""
    asked = _asked_width() or PLAIN_WIDTH
    return min(_columns(file) or asked, WIDEST) if tty else asked


def _columns(file: TextIO) -> int:
    """Return the width of a terminal in columns; 0 if it is unknown."""
    try:
        return os.get_terminal_size(file.fileno()).columns
    except (OSError, ValueError):
        return 0


def _asked_width() -> int:
    """Return the width that the variable COLUMNS asks for.

    0 if it is unset, no number, or too small.
    """
    asked = os.environ.get("COLUMNS", "")
    return max(int(asked), NARROWEST) if asked.isdecimal() and int(asked) else 0


def standard_error() -> Stream:
    """Return stderr as a stream, for progress and errors."""
    return Stream(sys.stderr)


def standard_output(color: str = "auto") -> Stream:
    """Return stdout as a stream, for the verdict and data."""
    return Stream(sys.stdout, color=color)
