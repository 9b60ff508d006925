"""Print what `--help` and `--version` say, without the parser.

Its import takes five times as long as a bare start of Python.

`help.txt` holds the help of every command as the parser prints it where there are 80 columns;
`python .ci/pages.py` writes it, and a test compares both.
"""

from __future__ import annotations

import os
import sys

from reprocheck.cli import overview

TYPE_CHECKING = False  # importing `typing` takes as long as half of a bare start of Python
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

FILE = os.path.join(os.path.dirname(__file__), "help.txt")
WIDTH = 80
"""Columns from which on the parser's help is always the same."""


def printed(words: list[str]) -> bool:
    """Print the help or the version if that is all that is asked for.

    Returns whether it could be printed; what stands in the way is told by the usual way.
    """
    text = _text(words)
    if text is None:
        return False
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, ValueError, OSError):  # closed, too narrow a code, full, no reader
        return False
    return True


def _text(words: list[str]) -> str | None:
    if words in overview.ASKS_FOR_VERSION:
        return overview.version_text()
    if words in overview.ASKS_FOR_HELP:
        return overview.help_text() + "\n"
    if words[0] == "help":
        words = [*words[1:], "--help"]
    if words[-1] not in ("-h", "--help") or _columns() < WIDTH:
        return None
    return pages().get(" ".join(words[:-1]))


def _columns() -> int:
    """Return the width that the parser would wrap the help to."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or WIDTH  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return WIDTH


def pages() -> Mapping[str, str]:
    """Return the help of each command, by its words: `suite run`."""
    with open(FILE, encoding="utf-8") as file:
        parts = file.read().split("\f")
    return dict(part.split("\n", 1) for part in parts[1:])


def by_parser() -> str:
    """Return what `help.txt` should hold."""
    from reprocheck.cli.application import made

    parts = (
        part for name in overview.COMMANDS for part in _of_command(made(name), f"reprocheck {name}")
    )
    return "".join(parts)


def _of_command(command: Any, called: str) -> Iterator[str]:
    """Yield the page of a command and of those below it."""
    from reprocheck.cli.application import help_of

    yield f"\f{called.removeprefix('reprocheck ')}\n{help_of(command, called, WIDTH)}\n"
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from _of_command(command.get_command(None, name), f"{called} {name}")
