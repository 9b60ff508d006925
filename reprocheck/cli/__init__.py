"""The command line.

One module a command; `console` and its `terminal` alone know the terminal, `failure` alone prints
errors.

Start-up is a budget (`python -m benchmarks --only help`): what only asks for help or the version is
printed here from `help.txt`, an entry of the catalogue without the parser, and every command
imports what it needs inside its function.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing `typing` takes as long as half of a bare start of Python
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from reprocheck.cli.application import app

__all__ = ["COMPLETE", "app", "main"]

COMPLETE = "_REPROCHECK_COMPLETE"
"""Set by the shell when it asks for completions."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code of the process."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if COMPLETE not in os.environ:
        from reprocheck.cli import help_pages

        if help_pages.printed(words):
            return 0
    from reprocheck import interrupts
    from reprocheck.cli import own_process

    interrupts.listen()
    own_process.settle()

    from reprocheck.cli.failure import guarded

    return guarded(lambda: _answer(words), verbose="-v" in words[:2] or "--verbose" in words[:2])


def _answer(words: list[str]) -> int:
    """Answer without typer what is asked most, because its import takes longer than the answer."""
    from reprocheck.cli import overview

    if COMPLETE not in os.environ:
        if words in overview.ASKS_FOR_VERSION:
            return overview.print_version()
        if words in overview.ASKS_FOR_HELP:
            return overview.print_help()
        match words:
            case ["rules", code] if not code.startswith("-") and not _check_left_folders():
                from reprocheck.cli import rules_view

                return rules_view.print_one(code)
    from reprocheck.cli.application import invoke

    return invoke(words)


def _check_left_folders() -> bool:
    """Return whether a check is under way or was killed: the parser puts back what it left.

    Each check has a folder for temporary files (`launch.interrupted_checks.SCRATCH`). Neither that
    module nor `tempfile` is asked where: their imports take as long as the whole answer.
    """
    names = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    place = next(filter(None, names), "/tmp")
    try:
        return any(name.startswith("reprocheck-") for name in os.listdir(place))  # noqa: PTH208
    except OSError:
        return True


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module 'reprocheck.cli' has no attribute {name!r}")
    from reprocheck.cli.application import app

    return app
