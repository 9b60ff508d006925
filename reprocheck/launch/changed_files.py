"""What a report folder holds of the user's files once runs have ended, and how that is said."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from reprocheck.errors import ReportError
from reprocheck.files.summary import summary
from reprocheck.launch.file_events import FileEvents, read_events
from reprocheck.launch.snapshot import STORE
from reprocheck.model import FileChanges, FilesAfter, is_elsewhere
from reprocheck.recording import record
from reprocheck.redaction import Redaction, identity, unmask

MOST_NAMED = 5


def events_of(folder: Path, place: str) -> FileEvents:
    """Return what the traces of the runs that lie in `place` say of files."""
    return read_events((folder / place).glob("run-*/trace/*.jsonl"))


def seen_by(events: FileEvents, changes: FileChanges, *, alone: bool = False) -> FileChanges:
    """Return changes with what the traces of their run say.

    `alone`: nobody but the run can have made them.
    """
    changed = (*changes.created, *changes.changed, *changes.deleted, *changes.folders)
    unseen = tuple(path for path in changed if not events.wrote(path))
    if alone:
        unseen = ()
    written = sorted(filter(is_elsewhere, events.written))
    elsewhere = tuple(path for path in written if real(path).is_file())
    made = tuple(path for path in elsewhere if path in events.made)
    stood = (path for path in written if path not in events.made)
    gone = tuple(path for path in stood if not os.path.lexists(real(path)))
    return replace(
        changes,
        unseen=unseen,
        elsewhere=elsewhere,
        made=made,
        gone=gone,
        read=tuple(sorted(events.read)),
    )


def real(path: str) -> Path:
    """Return the file that a masked path of a trace of this machine stands for."""
    return Path(unmask(path, *identity()))


def relative_to(folder: Path, after: FilesAfter) -> FilesAfter:
    """Return it with the folders relative to the report folder."""

    def relative(path: str) -> str:
        return os.path.relpath(path, folder) if path else ""

    return replace(
        after,
        left=relative(after.left),
        before=relative(after.before),
        meanwhile=relative(after.meanwhile),
    )


def note_files(folder: Path, after: FilesAfter) -> None:
    """Add to the record of a report folder what became of the user's files; a folder without a
    record has no report either.
    """
    if after == FilesAfter():
        return
    shown = Redaction("folder", identity=identity()).path
    masked = {field.name: _masked(getattr(after, field.name), shown) for field in fields(after)}
    with suppress(ReportError):
        held = record.read(folder)
        record.write(folder, replace(held, files_after=(*held.files_after, FilesAfter(**masked))))


def _masked(value: str | tuple[str, ...], shown: Callable[[str], str]) -> Any:
    return shown(value) if isinstance(value, str) else tuple(map(shown, value))


def sentences(after: FilesAfter, folder: Path, cwd: Path) -> Iterator[str]:
    """Yield what the user has to know at once; the rest stands in the report."""
    if after.others:
        said = (
            "Changed during the runs by another program, or by one that cannot be watched, and"
            f" left as they are: {summary(after.others, MOST_NAMED)}."
        )
        if after.kept:
            said += f" As they were before: {os.path.relpath(folder / after.before, cwd)}."
        yield said
    if after.lost:
        store = os.path.relpath(folder / STORE, cwd)
        yield (
            f"Could not be put back after the runs: {summary(after.lost, 10)}. They are kept in"
            f" {store}: once they can be written, the next command of reprocheck in this folder"
            " puts them back."
        )
    if after.unkept:
        yield (
            f"Changed or removed by the runs, and not kept before: {summary(after.unkept, 10)}."
            " Take them from a backup. `--workdir copy` gives each run its own copy."
        )
