"""A checkpoint outside of the working directory: written where the user allows it by its pattern,
kept beside the snapshot, put back for the resumed run, and removed at the end.

No file of the user is touched: what stands there already is a reason to refuse.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.launch.snapshot import summary

WILD = "*?["


def absolute(pattern: str, cwd: Path) -> str:
    """A pattern that leads out of the working directory as a whole path; any other as it is."""
    if not pattern:
        return ""
    whole = Path(os.path.normpath(cwd / Path(pattern).expanduser()))
    if whole.is_relative_to(cwd):
        return str(whole.relative_to(cwd))
    return str(whole)


class Elsewhere:
    """The files outside of the working directory that match a pattern; none, where the pattern is
    of the working directory.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern if pattern.startswith("/") else ""
        self._stood = _existing_folder(_base(self._pattern))

    def refuse(self) -> None:
        """UsageError where files of the user match."""
        found = self.files()
        if found:
            raise UsageError(
                f"--checkpoint {self._pattern}: {summary(found)} stands there already, and the"
                " check would have to overwrite or remove it.",
                "Move it away, or have the script write to a folder of its own.",
            )

    def files(self) -> list[str]:
        """What matches now, as whole paths."""
        return sorted(path for path in self._below() if fnmatch(path, self._pattern))

    def keep(self, store: Path) -> None:
        """Copies what matches now into `store`. Raises OSError."""
        for path in self.files():
            target = store / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)

    def put_back(self, store: Path) -> None:
        """Makes what matches what was kept in `store`. Raises OSError."""
        self.remove()
        for path in _all_files(store):
            target = Path("/", path.relative_to(store))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)

    def remove(self) -> None:
        """Removes what the runs wrote there, and the folders that they made."""
        for path in self.files():
            Path(path).unlink(missing_ok=True)
        if not self._pattern:
            return
        folder = _base(self._pattern)
        for found in sorted(folder.rglob("*"), reverse=True):
            _remove_empty(found)
        while folder != self._stood and folder != folder.parent:
            _remove_empty(folder)
            folder = folder.parent

    def _below(self) -> Iterator[str]:
        if self._pattern:
            yield from map(str, _all_files(_base(self._pattern)))


def _base(pattern: str) -> Path:
    """The folder that everything lies in that can match."""
    parts: list[str] = []
    for part in Path(pattern).parts[:-1]:
        if any(letter in part for letter in WILD):
            break
        parts.append(part)
    return Path(*parts)


def _existing_folder(folder: Path) -> Path:
    """The nearest folder that is there."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _all_files(folder: Path) -> Sequence[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        with suppress(OSError):  # something is left in it
            folder.rmdir()
