"""Manage the folder of a check below the output folder.

Made before the first run, linked as `latest`, old ones removed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from datetime import datetime
from pathlib import Path

from reprocheck.errors import ReportError

FIX = "Name a folder that can be written and has space with --output."
PROBE = 1 << 20
_GITIGNORE = ".gitignore"


def prepare(output: Path, name: str) -> Path:
    """Make `output`/NAME-YYYYMMDD-HHMMSS (with -2, -3… if taken) and return it, absolute.

    Raises ReportError where it cannot be written or is full.
    """
    output = output.expanduser().absolute()
    if ".." in output.parts:  # what lies below the working directory is to be known as such
        output = output.resolve()
    stem = f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
    try:
        ours = _made(output)
        folder = output / stem
        for number in itertools.count(2):
            try:
                folder.mkdir()
                break
            except FileExistsError:
                folder = output / f"{stem}-{number}"
        hidden = folder
        if ours:
            hidden = output
        with contextlib.suppress(OSError):
            (hidden / _GITIGNORE).write_text("*\n")
        probe = folder / ".probe"
        with probe.open("wb") as file:
            file.write(bytes(PROBE))
            file.flush()
            os.fsync(file.fileno())
        probe.unlink()
    except OSError as error:
        raise ReportError(
            f"The report cannot be written to {output}: {error.strerror or error}.", FIX
        ) from None
    return folder


def publish(folder: Path, keep: int | None = None) -> None:
    """Point `latest` at the folder, and remove the oldest reports of the same name.

    So many that `keep` remain (None: all).
    """
    link = folder.parent / "latest"
    if link.is_symlink() or not link.exists():
        new = folder.parent / f".latest-{os.getpid()}-{folder.name}"
        # a file system without links: the folder is there all the same
        with contextlib.suppress(OSError):
            new.symlink_to(folder.name)
            new.replace(link)
    if keep is not None:
        for old in reports_of_same_name(folder)[:-keep]:
            if old != folder:
                shutil.rmtree(old, ignore_errors=True)


def discard(folder: Path) -> None:
    """Remove an unused folder of `prepare`, and the output folder if otherwise empty."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        if [path.name for path in folder.parent.iterdir()] == [_GITIGNORE]:
            (folder.parent / _GITIGNORE).unlink()
            folder.parent.rmdir()


def reports_of_same_name(folder: Path) -> list[Path]:
    """Return finished report folders beside this one with the same name, the oldest first.

    A folder that holds files of the user's is left out.
    """
    match = re.fullmatch(r"(.+)-\d{8}-\d{6}(?:-\d+)?", folder.name)
    if match is None:
        return []
    pattern = re.compile(re.escape(match[1]) + r"-(\d{8}-\d{6})(?:-(\d+))?")
    reports = []
    for path in folder.parent.iterdir():
        same = pattern.fullmatch(path.name)
        # folders in a report folder that hold what may stand nowhere else
        if (
            same
            and not path.is_symlink()
            and (path / "record.json").is_file()
            and not any((path / name).exists() for name in ("snapshot", "before", "meanwhile"))
        ):
            reports.append((same[1], int(same[2] or 1), path))
    return [path for _, _, path in sorted(reports)]


def _made(output: Path) -> bool:
    """Make the output folder; return False if it existed."""
    try:
        output.mkdir(parents=True)
    except FileExistsError:
        output.mkdir(exist_ok=True)  # raises where it is no folder
        return False
    return True
