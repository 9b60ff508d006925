"""After a check that was killed: its copies are removed, and the user's files put back.

The guard does it by itself when reprocheck dies while a run is under way; where the guard was
killed, too, the next command in the folder does it (`left_behind`). `python -m
reprocheck.launch.workdir.cleanup DIR` does it by hand.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.archive import Archive
from reprocheck.launch.workdir.changed_files import events_of, note_files, relative_to, sentences
from reprocheck.launch.workdir.hold import Hold, held_by
from reprocheck.launch.workdir.restoration import Ours, restore
from reprocheck.launch.workdir.snapshot import STORE
from reprocheck.model import FilesAfter
from reprocheck.redaction import identity, known_secrets, mask_log

COPY = "workdir"
PLACES, VALUES = "places", "values"
"""Folders of a check of a resume: its snapshots, and what its continued run held."""


def clean_up(
    folder: Path, scratch: Path | None = None, *, until: float | None = None
) -> FilesAfter:
    """Put back what the snapshot in a report folder holds.

    Copies of the working directory and the runs' TMPDIR are removed, and logs are masked.
    """
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
    for copy in (*folder.glob(f"{COPY}*"), folder / PLACES, folder / VALUES):
        shutil.rmtree(copy, ignore_errors=True)
    known = known_secrets((), os.environ)
    for pattern in ("run-*/*.log", "*/run-*/*.log", "arms/*/run-*/*.log"):
        for log in folder.glob(pattern):
            mask_log(log, identity(), known)
    if not (folder / STORE).exists():
        return FilesAfter()
    owner = snapshot.owner(folder / STORE)
    place = str(owner.get("runs", ""))
    archive = Archive(
        folder=Path(str(owner.get("folder", folder))),
        workdir=Path(str(owner.get("workdir", folder))),
        place=place,
    )
    ours = Ours(events=events_of(folder, place), until=until)
    return relative_to(archive.folder, restore(folder / STORE, ours, archive))


def command(folder: Path, scratch: Path, archive: Archive, hold: Hold) -> list[str]:
    """Return what the guard becomes when reprocheck has died.

    This module, started so that the environment of the run does not touch it. The guard has the
    descriptors of `hold`.
    """
    import msgspec

    root = str(Path(__file__).resolve().parents[3])
    packages = str(Path(msgspec.__file__).resolve().parents[1])  # the record is read with it
    code = (
        "import sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3];"
        " from reprocheck.launch.workdir.cleanup import main; main()"
    )
    places = map(str, (folder, scratch, archive.folder, archive.workdir))
    words = (root, packages, *places, *hold.words)
    return [sys.executable, "-I", "-S", "-c", code, *words]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time clean up: with runs side by side, each has a guard that does so."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # it is gone: there is nothing to clean up
        yield
        return
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def main() -> None:
    """Read the command line, which begins with the folder of the check.

    From a guard also the folder of the runs' temporary files, that of the check without links, the
    working directory and the words of a `Hold`.
    """
    if len(sys.argv) < 2:
        sys.exit("usage: python -m reprocheck.launch.workdir.cleanup REPORT_FOLDER")
    folder = Path(sys.argv[1])
    scratch = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    archive = Archive(
        folder=Path((*sys.argv, "")[3] or folder.resolve()),
        workdir=Path((*sys.argv, "", "")[4] or folder),
    )
    with held_by(sys.argv[5:]).ended(archive), _alone(folder):
        after = clean_up(folder)
        note_files(folder, after)
        if scratch is not None:  # last: by it, the next command finds what is not put back yet
            shutil.rmtree(scratch, ignore_errors=True)
    if after == FilesAfter():
        return
    if after.put_back:
        print("Put back:", *after.put_back, sep="\n  ")
    for sentence in sentences(after, folder, Path.cwd()):
        print(sentence)
    if after.lost:
        sys.exit(1)


if __name__ == "__main__":
    main()
