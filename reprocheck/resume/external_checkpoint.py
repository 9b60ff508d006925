"""A checkpoint outside of the working directory: written where the user allows it by its pattern,
kept beside the snapshot, put back for the resumed run, and removed at the end.

No file of the user is touched: what stands there already is a reason to refuse.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatch
from glob import escape
from itertools import takewhile
from pathlib import Path

from reprocheck.child.reprocheck_child.shared.patterns import fixed_start
from reprocheck.errors import UsageError
from reprocheck.files.summary import summary


def absolute(pattern: str, cwd: Path) -> str:
    """Return a pattern that leads out of the working directory as a whole path.

    Any other is returned as it is.
    """
    if not pattern:
        return ""
    path = Path(os.path.normpath(cwd / Path(pattern).expanduser()))
    if path.is_relative_to(cwd):
        return str(path.relative_to(cwd))
    base, _ = _start(str(path))  # where no part is a link that a pattern stands for
    return str(Path(os.path.realpath(base)) / path.relative_to(base))


class Elsewhere:
    """The files outside of the working directory that match a pattern; none, where the pattern is
    of the working directory.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern if pattern.startswith("/") else ""
        self._base, _ = _start(self.pattern)
        self._stood = next(filter(Path.is_dir, (self._base, *self._base.parents)))
        self._folders = frozenset(self._all_folders())
        """Those of the user, which stay although nothing is in them."""

    def refuse(self) -> None:
        """UsageError where files of the user match."""
        files = self.files()
        if files:
            raise UsageError(
                f"--checkpoint {self.pattern}: {summary(files)} stands there already, and the"
                " check would have to overwrite or remove it.",
                "Move it away, or have the script write to a folder of its own.",
            )

    def files(self) -> list[str]:
        """Return what matches now, as whole paths."""
        return sorted(self.matching())

    def matching(self) -> Iterator[str]:
        """Return what matches now, one after the other."""
        files = (str(path) for path in _below(self.pattern) if _is_file(path))
        return (path for path in files if fnmatch(path, self.pattern))

    def keep(self, store: Path) -> None:
        """Copy what matches now into `store`. Raises OSError."""
        for path in self.files():
            _copy(Path(path), store / path.lstrip("/"))

    def put_back(self, store: Path) -> None:
        """Make what matches what was kept in `store`. Raises OSError."""
        self.remove()
        for path in filter(_is_file, sorted(store.rglob("*"))):
            _copy(path, Path("/", path.relative_to(store)))

    def remove(self) -> None:
        """Remove what the runs wrote there, and the folders that they made."""
        for path in self.files():
            Path(path).unlink(missing_ok=True)
        for made in sorted(self._all_folders() - self._folders, reverse=True):
            _remove_empty(made)
        folders = (self._base, *self._base.parents)
        for folder in takewhile(lambda one: one != self._stood, folders):
            _remove_empty(folder)

    def _all_folders(self) -> set[Path]:
        """Return those in which files may lie that match."""
        below = _below(self.pattern)
        return {path for path in below if path.is_dir() and not path.is_symlink()}


def _below(pattern: str) -> Iterator[Path]:
    """Everything that begins as a pattern does, and what is below it; nothing for none."""
    if not pattern:
        return
    folder, start = _start(pattern)
    for top in folder.glob(escape(start) + "*"):
        yield top
        if top.is_dir() and not top.is_symlink():
            yield from top.rglob("*")


def _start(pattern: str) -> tuple[Path, str]:
    """Return the folder that holds all that can match, and how names begin there."""
    folder, _, start = fixed_start(pattern).rpartition("/")
    return Path(folder or "/"), start


def _is_file(path: Path) -> bool:
    """Return a link, too, wherever it leads to, which a run may have made and moved."""
    return path.is_symlink() or path.is_file()


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target, follow_symlinks=False)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # something is left in it
        folder.rmdir()
