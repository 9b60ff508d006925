"""The folder of a suite: marked as ours, hidden from git, and without nights that are too old."""

from __future__ import annotations

import shutil
from pathlib import Path

from reprocheck.errors import ReportError
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


def remove_old(suite: Suite, night: Night) -> None:
    """Remove the report folders of nights older than those that the suite keeps; never those of
    this night or later nights.
    """
    if suite.keep_nights is None:
        return
    older = sorted(path for path in (suite.folder / NIGHTS).glob("*") if path.name < night.id)
    excess = len(older) + 1 - suite.keep_nights
    for path in older[: max(excess, 0)]:
        shutil.rmtree(path, ignore_errors=True)
