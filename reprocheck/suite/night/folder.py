"""The folder of a suite: marked as ours, hidden from git, and without nights that are too old."""

from __future__ import annotations

import shutil
from pathlib import Path

from reprocheck.errors import ReportError
from reprocheck.launch.tree import SUITE_MARK
from reprocheck.suite.model import Night
from reprocheck.suite.targets import Suite


def prepare(folder: Path) -> None:
    """Makes the folder of a suite.

    The mark keeps it out of the snapshots and copies of working directories that it lies in; a
    folder that was there already may hold files that git is to see. Raises ReportError.
    """
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            (folder / ".gitignore").write_text("*\n")
        (folder / SUITE_MARK).touch()
    except OSError as error:
        raise ReportError(
            f"{folder} cannot be written: {error.strerror or error}.",
            'Name another folder: folder = "..." in [tool.reprocheck.suite].',
        ) from None


def remove_old(suite: Suite, night: Night) -> None:
    """Removes the report folders of nights that are older than those to be kept; none of this night
    or of later ones.
    """
    if suite.keep_nights is None:
        return
    nights = suite.folder / "nights"
    older = sorted(path for path in nights.glob("*") if path.name < night.id)
    excess = len(older) + 1 - suite.keep_nights
    for path in older[: max(excess, 0)]:
        shutil.rmtree(path, ignore_errors=True)
