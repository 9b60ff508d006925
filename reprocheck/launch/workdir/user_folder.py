"""The user's own folder for each run as the first one found it, where no copy of it can be made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from reprocheck.launch.workdir.file_events import FileEvents
from reprocheck.launch.workdir.hold import Hold
from reprocheck.launch.workdir.workdir import InPlace
from reprocheck.model import FileChanges, FilesAfter


class Renewed:
    """Restores the working directory after each run, so that no run finds files of another one.

    `find`: a function that keeps the current files.
    """

    def __init__(self, path: Path, find: Callable[[], InPlace]) -> None:
        self.path = path
        self.began: float | None = None
        self._find = find
        self._found: InPlace | None = None
        self._after = FilesAfter()

    @property
    def hold(self) -> Hold:
        """Return a hold on the files that existed before the run."""
        return self._found.hold if self._found is not None else Hold()

    def begin(self) -> None:
        """Keep the current files before a run."""
        self._found = self._find()
        self._found.begin()
        self.began = self._found.began

    def secure(self) -> None:
        """Restore missing files of the store if the run removed them."""
        if self._found is not None:
            self._found.secure()

    def end(self, events: FileEvents) -> FileChanges:
        """Return the changes of the run to the folder, none of which another run sees."""
        if self._found is None:
            return FileChanges()
        changes = self._found.end(events)
        self.close()
        return replace(changes, copied=True)

    def close(self, *, undo: bool = False) -> FilesAfter:
        """Put back what a run that was broken off left; what became of the files after all runs."""
        folder, self._found = self._found, None
        if folder is not None:
            self._after = _joined(self._after, folder.close())
        return self._after


def _joined(one: FilesAfter, other: FilesAfter) -> FilesAfter:
    """Return what two runs came to: the paths of both, each once."""

    def both(name: str) -> Any:
        before, after = getattr(one, name), getattr(other, name)
        return (
            tuple(dict.fromkeys((*before, *after)))
            if isinstance(before, tuple)
            else after or before
        )

    return FilesAfter(**{field.name: both(field.name) for field in fields(FilesAfter)})
