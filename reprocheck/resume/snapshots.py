"""Keep the working directory of a continued run as it stood behind a checkpoint.

Taken while the training waits, and laid over the fresh copy in which a resumed run starts.

Only what changed since the run began is kept.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from reprocheck.child.reprocheck_child.shared import marks
from reprocheck.errors import ReportError
from reprocheck.launch.run.process import GuardedProcess
from reprocheck.launch.workdir import cleanup, snapshot, tree
from reprocheck.launch.workdir.workdir import Copies
from reprocheck.launch.workdir.writers import written_by
from reprocheck.model import FileChanges
from reprocheck.resume.external_checkpoint import Elsewhere
from reprocheck.resume.model import Checkpoint
from reprocheck.resume.other_files import checkpoint_of
from reprocheck.resume.records import NO_ROOM
from reprocheck.trace import events

ELSEWHERE = ".outside"
"""Folder in a snapshot for what lies outside of the working directory."""
LONGEST_WRITING = 60.0
"""Seconds for which another process is waited for that still writes a file of the checkpoint."""
POLL = 0.02


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What stood there at one boundary.

    names      places that it serves
    changed    files that were new or other than at the start, kept below `folder`
    deleted    files that were gone
    folders    folders that were new
    """

    names: tuple[str, ...]
    checkpoint: Checkpoint
    folder: Path
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    folders: tuple[str, ...]
    elsewhere: Elsewhere

    def lay_over(self, copy: Path, *, again: bool = False) -> None:
        """Make a fresh copy of the working directory what it was at the boundary.

        Also what a checkpoint has outside of it is put back. The kept files are moved, unless it is
        done `again`.

        Raises OSError.
        """
        self.elsewhere.put_back(self.folder / ELSEWHERE)
        for path in self.deleted:
            (copy / path).unlink(missing_ok=True)
        for path in self.folders:
            (copy / path).mkdir(parents=True, exist_ok=True)
        for path in self.changed:
            target = copy / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            put = _keep_one if again else snapshot.move
            put(self.folder / path, target)


class Snapshots:
    """Attends to a continued run: takes a snapshot whenever the run waits for one."""

    def __init__(self, folder: Path, trace: Path, workdir: Copies, elsewhere: Elsewhere) -> None:
        import msgspec

        self.taken: list[Snapshot] = []
        self.trace = trace
        # Made before the run waits for it: the first one takes some milliseconds.
        self._marks_decoder = msgspec.json.Decoder(events.Checkpoint)
        self._store = folder / cleanup.PLACES / trace.parent.name
        self._workdir = workdir
        self._elsewhere = elsewhere

    def attend(self, process: GuardedProcess) -> None:
        """Take a snapshot where the run waits for one; to be called again and again.

        Raises ReportError.
        """
        try:
            names = set(os.listdir(self.trace))  # noqa: PTH208 - asked ten times a second
        except OSError:
            return
        for name in sorted(name for name in names if name.startswith(marks.WANTED)):
            answer = name.replace(marks.WANTED, marks.TAKEN)
            if answer in names:
                continue
            # the event of the trace of a process, with the paths as they are
            event = self._marks_decoder.decode((self.trace / name).read_bytes())
            self._await_writers({*event.p, *event.o}, process)
            self.leave(checkpoint_of(event), *event.at)
            (self.trace / answer).touch()

    def leave(self, checkpoint: Checkpoint, *names: str) -> None:
        """Take a snapshot of the working directory for some places. Raises ReportError."""
        now, changes = self._changes()
        taken = Snapshot(
            names=names,
            checkpoint=checkpoint,
            folder=self._store / str(len(self.taken) + 1),
            changed=(*changes.created, *changes.changed),
            deleted=changes.deleted,
            folders=changes.folders,
            elsewhere=self._elsewhere,
        )
        self._keep(taken, now)
        self.taken.append(taken)

    def close(self) -> None:
        """Remove what was not used."""
        shutil.rmtree(self._store, ignore_errors=True)

    @property
    def outside(self) -> str:
        """Return the file outside of the folder that the run was ended before writing.

        "" where there is none.
        """
        try:
            return (self.trace / marks.OUTSIDE).read_text(encoding="utf-8")
        except OSError:
            return ""

    def _await_writers(self, paths: Collection[str], process: GuardedProcess) -> None:
        """Wait until no process of the run holds a file of the checkpoint open for writing."""
        deadline = time.monotonic() + LONGEST_WRITING
        while time.monotonic() < deadline:
            if written_by(process.tree(), self._workdir.path).isdisjoint(paths):
                return
            time.sleep(POLL)

    def _changes(self) -> tuple[Mapping[str, tree.Entry], FileChanges]:
        """Return the files of the working directory, and the changes since the run began.

        Of more files than are listed, these are those that changed since then by the clock of the
        file system.
        """
        before, now = self._workdir.tree, tree.read_tree(self._workdir.path)
        if before.complete and now.complete:
            return now.entries, tree.file_changes(before, now)
        began = (self.trace / "recorder.json").stat().st_ctime_ns
        written = tree.written_since(self._workdir.path, began)
        return written, FileChanges(changed=tuple(sorted(written)))

    def _keep(self, taken: Snapshot, now: Mapping[str, tree.Entry]) -> None:
        """Keep the files that changed, sharing their blocks where the file system can.

        Raises ReportError.
        """
        folder = taken.folder
        size = sum(now[path].size for path in taken.changed)
        try:
            folder.mkdir(parents=True)
            # where blocks can be shared they may take none, and then the writing itself says so
            free = shutil.disk_usage(folder).free
            if size > free:
                raise OSError(28, f"there are {free / 1e6:,.1f} MB of space")
            for path in taken.changed:
                _keep_one(self._workdir.path / path, folder / path)
            self._elsewhere.keep(folder / ELSEWHERE)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise ReportError(
                f"The snapshot behind the checkpoint ({size / 1e6:,.1f} MB) cannot be written to"
                f" {folder}: {error.strerror or error}.",
                NO_ROOM,
            ) from None


def _keep_one(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink() or not snapshot.clone(source, target):
        shutil.copy2(source, target, follow_symlinks=False)
    else:
        shutil.copystat(source, target)
