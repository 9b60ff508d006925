"""What earlier checks of the same script left, where all runs of this one find it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from reprocheck.errors import ReportError
from reprocheck.files.summary import summary
from reprocheck.launch.changed_files import MOST_NAMED, real
from reprocheck.launch.file_events import read_events
from reprocheck.launch.further_runs import made_elsewhere
from reprocheck.model import CheckRecord, EntryPoint, RunRecord
from reprocheck.recording import record

MOST_LOOKED_AT = 20
"""Report folders, the newest first."""

MOST_FILES = 200
SLACK = 2.0
"""Seconds after the end of a check's last run within which a file may still have been written by
it.
"""


def checks_beside(folder: Path, name: str) -> dict[Path, CheckRecord]:
    """Return the folders and records of other checks of this name, the newest first.

    Folders that cannot be read are left out.
    """
    others = (one for one in folder.parent.glob(f"{name}-*") if one != folder and one.is_dir())
    records = {}
    for other in sorted(others, reverse=True)[:MOST_LOOKED_AT]:
        with contextlib.suppress(ReportError):
            records[other] = record.read(other)
    return records


def left_in(cwd: Path, checks: Mapping[Path, CheckRecord]) -> dict[str, str]:
    """Return files of the working directory that earlier checks made there -> when the check began.

    A cache that the run which made it read before it trained does not count, because all runs start
    alike from it.
    """
    files_left: dict[str, str] = {}
    for other, known in checks.items():
        each = [run.files for run in known.runs if not run.files.copied]
        created = {path for files in each for path in files.created}
        made = created - {path for files in each for path in files.unseen}
        if made:
            made -= read_events(other.glob("run-1/trace/*.jsonl")).early
        until = max((_ended(run) for run in known.runs), default=0.0) + SLACK
        left = (path for path in sorted(made) if _written_until(cwd / path, until))
        files_left = {**dict.fromkeys(left, known.started), **files_left}
    return dict(list(files_left.items())[:MOST_FILES])


def _ended(run: RunRecord) -> float:
    if not run.started:
        return 0.0
    return datetime.fromisoformat(run.started).timestamp() + run.seconds


def _written_until(path: Path, until: float) -> bool:
    """Return whether a file is there, and was last written to by then."""
    try:
        return path.is_file() and path.stat().st_mtime <= until
    except OSError:
        return False


def found_by_all(entry: EntryPoint, checks: Iterable[CheckRecord]) -> tuple[str, ...]:
    """Return caveats, masked as in a record, on files that earlier checks of `entry` left for each
    run to find.
    """
    same = (one for one in checks if one.entry_point.command == entry.command)
    left = {path for one in same for path in made_elsewhere(one.runs) if real(path).is_file()}
    if not left:
        return ()
    named = summary(sorted(left), MOST_NAMED)
    return (
        (
            f"Each run finds what an earlier check of this command left: {named}. In that check,"
            " run 1 made it and a later run read it. Where these runs read it, this check says"
            " nothing of a start without it: remove it first."
        ),
    )
