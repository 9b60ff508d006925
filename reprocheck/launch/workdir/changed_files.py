"""What a report folder holds of the user's files once runs have ended, and how that is said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from reprocheck.errors import ReportError
from reprocheck.files.summary import summary
from reprocheck.launch.workdir.file_events import FileEvents, read_events
from reprocheck.launch.workdir.snapshot import STORE
from reprocheck.model import FileChanges, FilesAfter, is_elsewhere
from reprocheck.recording import record
from reprocheck.redaction import Redaction, identity, unmask

MOST_NAMED = 5


def events_of(folder: Path, place: str) -> FileEvents:
    """Return the file events in the traces of the runs that lie in `place`."""
    return read_events((folder / place).glob("run-*/trace/*.jsonl"))


def seen_by(events: FileEvents, changes: FileChanges, *, alone: bool = False) -> FileChanges:
    """Return changes, completed by the file events in the traces of their run.

    `alone`: whether only the run can have made the changes.
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
    """Return the summary with its folders relative to the report folder."""

    def relative(path: str) -> str:
        return os.path.relpath(path, folder) if path else ""

    return replace(
        after,
        left=relative(after.left),
        before=relative(after.before),
        meanwhile=relative(after.meanwhile),
    )


def note_files(folder: Path, after: FilesAfter) -> None:
    """Add to the record of a report folder what became of the user's files.

    A folder without a record has no report either.
    """
    if after == FilesAfter():
        return
    shown = Redaction("folder", identity=identity()).path
    masked: dict[str, Any] = {}
    for field in fields(after):
        paths = getattr(after, field.name)
        masked[field.name] = shown(paths) if isinstance(paths, str) else tuple(map(shown, paths))
    with suppress(ReportError):
        before = record.read(folder)
        record.write(
            folder, replace(before, files_after=(*before.files_after, FilesAfter(**masked)))
        )


def sentences(after: FilesAfter, folder: Path, cwd: Path) -> Iterator[str]:
    """Yield the sentences that the user has to see at once; the rest is in the report."""
    if after.others:
        sentence = (
            "Changed during the runs by another program, or by one that cannot be watched, and"
            f" left as they are: {summary(after.others, MOST_NAMED)}."
        )
        if after.kept:
            sentence += f" As they were before: {os.path.relpath(folder / after.before, cwd)}."
        yield sentence
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
