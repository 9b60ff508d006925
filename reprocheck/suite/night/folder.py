"""The folder of a suite and the names of its nights; one process at a time makes a night."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reprocheck.errors import ReportError, UsageError
from reprocheck.suite.execution.claims import Wanted, claimed
from reprocheck.suite.model import Night
from reprocheck.suite.surface import SUITE_MARK
from reprocheck.suite.targets import Suite

NIGHTS = "nights"
"""In the folder of a suite: a folder a night."""


def prepare(folder: Path) -> None:
    """Make the folder of a suite, and mark it.

    The mark keeps the folder out of snapshots and copies of a working directory around it. A folder
    that existed before is not hidden from git, because it may hold tracked files. Raises
    ReportError.
    """
    try:
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)  # another night may begin beside this one
            (folder / ".gitignore").write_text("*\n")
        (folder / SUITE_MARK).touch()
    except OSError as error:
        raise ReportError(
            f"{folder} cannot be written: {error.strerror or error}.",
            'Name another folder: folder = "..." in [tool.reprocheck.suite].',
        ) from None


def night_folder(suite: Suite, night: Night) -> Path:
    """Return the folder of a night: its reports, and its files."""
    return suite.folder / NIGHTS / night.id


@contextmanager
def claimed_for_this_process(suite: Suite, night: Night, *, twice: bool) -> Iterator[None]:
    """Keep other processes of this machine from running the same night.

    twice  whether another night may check the same targets at the same commit meanwhile

    Raises UsageError if another process runs such a night, ReportError if the folder for temporary
    files cannot be written.
    """
    wanted = [Wanted(f"night {suite.folder.resolve()} {night.id}")]
    if not twice:
        wanted.append(Wanted(f"targets {suite.folder.resolve()} {night.commit} {night.selected}"))
    claim = claimed(wanted)
    if claim is None:
        raise UsageError(
            "A night with the same targets at the same commit is under way.",
            "Wait for its end, or end its process. Two machines share the work of a night where"
            " one starts it with --shard 1/2 and the other one with --shard 2/2. --twice checks"
            " all of it again.",
        )
    try:
        yield
    finally:
        claim.give_back()


FORMAT = "%Y-%m-%dT%H-%M-%SZ"
_LENGTH = len("2026-11-23T02-00-00Z")


def new_id(now: float, newest: str = "") -> str:
    """Return a name for a night: `2026-11-23T02-00-00Z-1f3a`.

    It sorts after `newest` even if the clock was set back.

    now     seconds since 1970
    newest  the last night there is; "" without any
    """
    began = datetime.fromtimestamp(int(now), UTC)
    before = _time_of(newest)
    if before is not None and began <= before:
        began = before + timedelta(seconds=1)
    return f"{began:{FORMAT}}-{secrets.token_hex(2)}"


def is_id(name: str) -> bool:
    """Return whether a folder has the name of a night."""
    return _time_of(name) is not None


def _time_of(night: str) -> datetime | None:
    """Return the time in the name of a night; None if it has another form."""
    try:
        return datetime.strptime(night[:_LENGTH], FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
