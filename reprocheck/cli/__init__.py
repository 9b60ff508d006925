"""The command line. One module a command; `console` and its `terminal` alone know the terminal,
`failure` alone prints errors.

Start-up is a budget: what only asks for the version or the overview is answered here, before typer
is imported, and every command imports what it needs inside its function.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reprocheck.cli.application import app

__all__ = ["COMPLETE", "app", "main"]

COMPLETE = "_REPROCHECK_COMPLETE"
"""Set by the shell when it asks for completions."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code of the process."""
    from reprocheck import interrupts
    from reprocheck.cli import own_process

    interrupts.listen()
    own_process.settle()

    from reprocheck.cli import overview
    from reprocheck.cli.failure import guarded

    words = list(sys.argv[1:] if arguments is None else arguments)
    if COMPLETE not in os.environ:
        if words in (["--version"], ["-V"]):
            return guarded(overview.print_version)
        if words in ([], ["--help"], ["-h"], ["help"]):
            return guarded(overview.print_help)
    return guarded(
        lambda: _application(words), verbose="-v" in words[:2] or "--verbose" in words[:2]
    )


def _application(words: list[str]) -> int:
    from reprocheck.cli.application import invoke

    return invoke(words)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module 'reprocheck.cli' has no attribute {name!r}")
    from reprocheck.cli.application import app

    return app
