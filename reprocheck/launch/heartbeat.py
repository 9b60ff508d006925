"""What a check leaves for the command that finds it killed: whose it is, and when it last lived."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reprocheck.launch.snapshot import OWNER, STORE, started

POINTER = "check.json"
"""In the folder of the runs' temporary files: which check it belongs to, wherever its reports
lie.
"""
SCRATCH = "reprocheck-"
"""How the name of such a folder begins; `_of_process` and a number follow.

The name is short: sockets lie below it, whose paths may have 107 characters.
"""
_WRAP = 1 << 16


def make_scratch(folder: Path, cwd: Path) -> Path:
    """Return a new folder for the temporary files of the runs of the check in `folder`."""
    name = f"{SCRATCH}{_of_process(os.getpid())}"
    for number in itertools.count():
        scratch = Path(tempfile.gettempdir(), f"{name}.{number}")
        try:
            scratch.mkdir(mode=0o700)
        except FileExistsError:
            continue
        point(scratch, folder, cwd)
        return scratch
    raise AssertionError("there is no last number")


def without_word() -> Iterator[Path]:
    """Yield folders for the temporary files of checks that were killed while they made or removed
    them: they hold no file of the user's, and no word of their check.

    Of this user alone: the folder that they lie in is everybody's.
    """
    for scratch in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*.*"):
        with contextlib.suppress(OSError, ValueError):
            is_mine = scratch.is_dir() and scratch.stat().st_uid == os.getuid()
            # ValueError where the name does not say who made it
            maker = scratch.name.removeprefix(SCRATCH).partition(".")[0]
            is_dead = _of_process(int(maker[:-4], 16)) != maker
            if is_mine and is_dead and not (scratch / POINTER).exists():
                yield scratch


def _of_process(pid: int) -> str:
    """Return a process in hexadecimal: its pid, and four digits of its start time."""
    return f"{pid:x}{int(started(pid) or 0) % _WRAP:04x}"


def point(scratch: Path, folder: Path, cwd: Path) -> None:
    """Write a file to `scratch` that names the check it belongs to."""
    facts = {
        "folder": str(folder),
        "workdir": str(cwd),
        "pid": os.getpid(),
        "started": started(os.getpid()),
    }
    (scratch / POINTER).write_text(json.dumps(facts))


def beat(folder: Path) -> None:
    """Touch the snapshot in the report folder as a sign of life of its check."""
    with contextlib.suppress(OSError):
        os.utime(folder / STORE / OWNER)
