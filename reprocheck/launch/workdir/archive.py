"""The folders of a report folder that take files of the working directory, so that none is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reprocheck.files.anchored_paths import Anchor, free_name
from reprocheck.launch.workdir.snapshot import Kept, move, same_bytes, write_content
from reprocheck.launch.workdir.tree import Entry

ARCHIVES = LEFT, BEFORE, MEANWHILE = "left", "before", "meanwhile"
"""Folders of what the runs had written where something is put back, of how files stood before the
runs that somebody else changed, and of what stood at a path before a later run that wrote there.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """The place of the folders for files left, replaced or changed meanwhile.

    folder   the report folder, without links
    workdir  the working directory: if the script replaced a folder below it, the replacement is
             renamed
    place    the folder of the runs in the report folder; empty for those of the check itself
    """

    folder: Path
    workdir: Path
    place: str = ""

    def path(self, name: str) -> Path:
        """Return the path of one of the folders, as shown to the user."""
        return self.folder / self.place / name

    def take_left(self, location: Path, path: str) -> None:
        """Move a file that the runs left at a path to `left`. Raises OSError."""
        with self.location(f"{LEFT}/{inside(path)}") as target:
            move(location, free_name(target))

    def copy_left(self, location: Path, path: str) -> None:
        """Copy a file that the runs left to `left`. Raises OSError."""
        with self.location(f"{LEFT}/{inside(path)}") as target:
            shutil.copy2(location, free_name(target), follow_symlinks=False)

    def put(self, folder: str, name: str, kept: Kept, store: Path) -> str:
        """Write a kept content to one of the folders, under another name if the name is taken.

        Returns the name; "" if the content cannot be written.
        """
        try:
            with self.location(f"{folder}/{name}") as target:
                if not same_bytes(target, kept, store):
                    target = free_name(target)
                    make(target, kept, store)
                return str(PurePosixPath(name).with_name(target.name))
        except OSError:
            return ""

    @contextmanager
    def location(self, name: str, *, of_runs: bool = True) -> Iterator[Path]:
        """Yield a path below the folder of the runs, or of the report, and make its folders."""
        base = self.workdir
        if not self.folder.is_relative_to(base):
            base = self.folder
            base.mkdir(parents=True, exist_ok=True)
        below = self.folder.relative_to(base) / (self.place if of_runs else "") / name
        with (
            Anchor.without_links(base, clear=True) as anchor,
            anchor.path(str(below), make=True) as location,
        ):
            yield location


def make(location: Path, kept: Kept, store: Path) -> None:
    """Make a kept file or link at a free path. Raises OSError."""
    entry = kept.entry
    if entry.kind == "link":
        location.symlink_to(entry.target or "")
    else:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(location, flags, 0o600), "wb", buffering=0) as file:  # noqa: PTH123
            write_content(file, kept, store)
    set_metadata(location, entry)


def set_metadata(location: Path, entry: Entry) -> None:
    """Set the owner, the mode and the time of change of a file or a link."""
    set_owner_and_mode(location, entry)
    os.utime(location, ns=(entry.mtime, entry.mtime), follow_symlinks=False)


def set_owner_and_mode(location: Path, entry: Entry) -> None:
    """Set the owner and the mode of a file, a link or a folder."""
    with suppress(OSError):  # only root may give a file away
        os.chown(location, entry.uid, entry.gid, follow_symlinks=False)
    if entry.kind != "link":
        set_mode(location, entry.mode)


def set_mode(location: Path, mode: int) -> None:
    """Set permission bits without following a link.

    Through a descriptor, because `chmod` on Linux cannot.
    """
    descriptor = os.open(location, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.chmod(f"/proc/self/fd/{descriptor}", mode)  # noqa: PTH101 - of a descriptor
    finally:
        os.close(descriptor)


def inside(path: str) -> str:
    """Return a path to use below a folder: absolute ones go below `elsewhere`."""
    if path.startswith("/"):
        return f"elsewhere{path}"
    return path
