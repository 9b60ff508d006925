"""Folders that are too wide to be the working directory of a check: what stands in them could not
be kept.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.model import EntryPoint

MOVE = "Move the training into its own folder, and start reprocheck there."


def refuse_wide_folder(cwd: Path, entry: EntryPoint) -> None:
    """Raise UsageError where a check would have to keep a whole machine's files, or all of the
    user's, so that the runs cannot cost them.
    """
    name = _wide(cwd)
    if name is None:
        return
    raise UsageError(
        f"The working directory is {name}: reprocheck keeps what stands there, and cannot keep all"
        " of it.",
        _advice(cwd, entry),
    )


def _wide(cwd: Path) -> str | None:
    if cwd == Path("/"):
        return "the root of the file system (/)"
    home = Path("~").expanduser()
    if home.is_dir() and cwd.samefile(home):
        return "your home folder"
    return None


def _advice(cwd: Path, entry: EntryPoint) -> str:
    """Return the command that starts the same script from its own folder."""
    if entry.kind != "script":
        return "Start from the folder of the training: cd FOLDER, and the same command again."
    _, script, *arguments = entry.command
    folder = (cwd / script).resolve().parent
    if _wide(folder) is not None:
        return MOVE
    command = shlex.join(["reprocheck", "run", Path(script).name, *arguments])
    return f"Start from the folder of the script: cd {shlex.quote(str(folder))} && {command}"
