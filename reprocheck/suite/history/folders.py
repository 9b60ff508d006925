"""The report folders of checks, where nights are merged: each is brought along before its check is
recorded, so that whatever a history names is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePath
from stat import S_ISDIR, S_ISREG

from sqlalchemy import select, update

from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.history.rows import is_inside
from reprocheck.suite.history.store import History
from reprocheck.suite.history.tables import checks, parts
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.surface import draw_again

NIGHTS = "nights"
KEPT = "kept"
PARTIAL = ".partial-"
"""Before the name of what is being copied: it has its name when it is whole."""
Bring = Callable[[TargetCheck, str], TargetCheck]


def bringing(source: Path, here: Path) -> Bring:
    """Return a function that copies the report folder of a check from one suite folder to another.

    The returned function takes a check and the night that it belongs to here, and returns the check
    with its folder here: "" if it is in neither place.
    """

    def bring(check: TargetCheck, night: str) -> TargetCheck:
        if not check.folder or not is_inside(check.folder):
            return replace(check, folder="")
        folder = in_night(check.folder, check.night, night)
        if _copy(source, PurePath(check.folder), here / folder):
            draw_again(here / folder)
        return replace(check, folder=folder if (here / folder).exists() else "")

    return bring


def in_night(folder: str, part: str, night: str) -> str:
    """Return the path of a shard's report folder after the shard is joined to a night."""
    mine = f"{NIGHTS}/{part}/"
    if not folder.startswith(mine):
        return folder
    return f"{NIGHTS}/{night}/{folder.removeprefix(mine)}"


def bring_kept(source: Path, here: Path) -> None:
    """Copy the kept deeper recordings of another suite folder that this one lacks."""
    for file in sorted((source / KEPT).glob("*/*")):
        place = file.relative_to(source)
        _copy(source, place, here / place)


def _copy(source: Path, place: PurePath, here: Path) -> bool:
    """Copy a file or folder of another suite atomically, unless it exists here; return whether it
    was copied.

    Links are left out: they would bring files of this machine into what is shown to others.
    """
    there = source / place
    if here.exists() or not there.exists() or there.resolve() != source.resolve() / place:
        return False
    partial = here.with_name(f"{PARTIAL}{here.name}")
    try:
        here.parent.mkdir(parents=True, exist_ok=True)
        if there.is_dir():
            shutil.copytree(there, partial, ignore=_links, dirs_exist_ok=True)
        else:
            shutil.copy2(there, partial)
        partial.replace(here)
    except OSError as error:
        raise HistoryError(
            f"{there} cannot be copied to {here}: {error}.",
            "Run the same merge again once that is mended: it goes on where it stopped.",
        ) from error
    return True


def _links(folder: str, names: list[str]) -> list[str]:
    """Return the names in a folder that are links, pipes, sockets or devices."""
    modes = {name: Path(folder, name).lstat().st_mode for name in names}
    return [name for name, mode in modes.items() if not (S_ISREG(mode) or S_ISDIR(mode))]


def settle(history: History, here: Path) -> None:
    """Move the report folders of joined shards to the folder of their night."""
    with history.reading() as connection:
        joined = connection.execute(select(parts)).all()
    for part, night in joined:
        for check in history.checks(night=night):
            folder = in_night(check.folder, part, night)
            if folder == check.folder or not is_inside(folder):
                continue
            _move(here / check.folder, here / folder)
            place = (
                checks.c.night == check.night,
                checks.c.target == check.target,
                checks.c.attempt == check.attempt,
            )
            with history.writing() as connection:
                connection.execute(update(checks).where(*place).values(folder=folder))


def _move(before: Path, after: Path) -> None:
    if before.exists() and not after.exists():
        after.parent.mkdir(parents=True, exist_ok=True)
        before.rename(after)
    for parent in (before.parent, before.parent.parent):
        if parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()
