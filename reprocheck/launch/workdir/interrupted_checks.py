"""Checks that were killed: how they are noticed, and how what they left is put back."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reprocheck.files.summary import summary
from reprocheck.launch.workdir import cleanup
from reprocheck.launch.workdir.changed_files import note_files, sentences
from reprocheck.launch.workdir.snapshot import OWNER, STORE, started
from reprocheck.model import FilesAfter

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
    """Yield folders for the temporary files of checks that were killed at a bad moment.

    While they made or removed them: they hold no file of the user's, and no word of their check.

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


SLACK = 2.0
"""Seconds after the last sign of life of a check within which its runs may still have written."""
MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Killed:
    """A check that was killed.

    Its report folder, the known temporary folders of its runs, and its last sign of life.
    """

    folder: Path
    scratches: tuple[Path, ...]
    until: float


def restored(output: Path, cwd: Path) -> Iterator[str]:
    """Put back the files that killed checks of the folder `cwd` have changed, and say so.

    If there are no such checks, only two folders are looked into.
    """
    for scratch in tuple(without_word()):
        shutil.rmtree(scratch, ignore_errors=True)
    for folder, after in put_back(output, cwd):
        yield from told(after, folder, cwd)


def put_back(output: Path, cwd: Path) -> Iterator[tuple[Path, FilesAfter]]:
    """Put back the files that killed checks of the folder `cwd` have changed.

    Returns the report folders with what became of the files.
    """
    for killed in tuple(_killed(output, cwd)):
        for scratch in killed.scratches:
            shutil.rmtree(scratch, ignore_errors=True)
        after = cleanup.clean_up(killed.folder, until=killed.until)
        note_files(killed.folder, after)
        yield killed.folder, after


def told(after: FilesAfter, folder: Path, cwd: Path) -> Iterator[str]:
    """Say what became of the user's files after a check that could not put them back at its end.

    `folder`: where its report lies.
    """
    if after.put_back:
        yield (
            f"Files that an earlier check had changed ({os.path.relpath(folder, cwd)}) are put"
            f" back: {summary(after.put_back, MOST_NAMED)}. It was killed, or could not write them"
            " at its end."
        )
    yield from sentences(after, folder, cwd)


def _killed(output: Path, cwd: Path) -> Iterator[Killed]:
    """Yield checks of this folder that are dead.

    Of those in the output folder and those that left word in the folder for temporary files.
    """
    scratches = defaultdict(list)
    # those of this user alone: the folder for temporary files is everybody's
    for pointer in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*/{POINTER}"):
        facts = _facts(pointer)
        if facts.get("workdir") == str(cwd) and not _is_alive(facts):
            scratches[Path(str(facts.get("folder")))].append(pointer.parent)
    folders = {
        *scratches,
        *(owner.parent.parent for owner in output.absolute().glob(f"*/{STORE}/{OWNER}")),
    }
    for folder in sorted(folders):
        owner = folder / STORE / OWNER
        left = tuple(scratches.get(folder, ()))
        facts = _facts(owner)
        if left and not facts:
            facts = _facts(left[0] / POINTER)
        is_of_here = facts.get("workdir") == str(cwd)
        if not is_of_here or _is_alive(facts) or _has_processes(folder):
            continue
        last = 0.0
        if owner.exists():
            last = owner.stat().st_mtime
        yield Killed(folder=folder, scratches=left, until=last + SLACK)


def _facts(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_uid != os.getuid():
            return {}
        facts = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(facts, dict):
        return {}
    return facts


def _is_alive(facts: dict[str, object]) -> bool:
    """Return whether the process of these facts still runs, not another one with its pid."""
    pid = facts.get("pid")
    if not isinstance(pid, int):
        return False
    now = started(pid)
    return bool(now) and now == facts.get("started", now)


def _has_processes(folder: Path) -> bool:
    """Return whether a process of a run still exists, which its guard is about to end."""
    for trace in folder.glob("**/trace/*.jsonl"):
        pid = trace.name.partition("-")[0]
        with contextlib.suppress(OSError):
            if str(folder).encode() in Path(f"/proc/{pid}/environ").read_bytes():
                return True
    return False
