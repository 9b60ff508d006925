"""uv, the program that lists, resolves and installs packages.

It reads the configuration of the user (`uv.toml`, `[tool.uv]`, `UV_DEFAULT_INDEX`, `UV_FIND_LINKS`,
credentials), so packages come from where the user's own come from.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from reprocheck.errors import UsageError

SEVERAL_LINES = 12
"""So many of the last lines of an error of uv are shown."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Hold the message of uv if uv cannot do what it was asked for."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Uv:
    """Run uv for one interpreter.

    program  the command that starts uv, as words
    python   the absolute path of the interpreter that packages are for
    folder   the folder of the target, from which uv looks for its configuration
    """

    program: tuple[str, ...]
    python: str
    folder: Path

    def answer(self, *words: str, given: str = "") -> str | Refused:
        """Return what `uv WORDS` prints. `given`: the text on its standard input."""
        done = subprocess.run(
            [*self.program, "--no-progress", "--color", "never", *words],
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode == 0:
            return done.stdout
        return Refused("\n".join(done.stderr.strip().splitlines()[-SEVERAL_LINES:]))


def find_uv(python: str, folder: Path) -> Uv:
    """Return uv from PATH, or from beside this Python.

    Raises UsageError if uv is not installed.
    """
    if on_path := shutil.which("uv"):
        return Uv(program=(on_path,), python=python, folder=folder)
    if find_spec("uv") is not None:
        return Uv(program=(sys.executable, "-m", "uv"), python=python, folder=folder)
    raise UsageError(
        "A search over package versions needs uv, which is not installed.",
        'pip install "reprocheck[bisect]"',
    )
