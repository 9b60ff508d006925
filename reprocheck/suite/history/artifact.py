"""The history that another machine has left: in a folder, a zip or as a file."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reprocheck.errors import ReportError, UsageError
from reprocheck.suite.history import open_history
from reprocheck.suite.history.engine import url_of_file
from reprocheck.suite.history.store import History

NAME = "history.sqlite"
MOST = 4 << 30
"""Bytes of a history in a zip, at most."""


@contextmanager
def artifact(source: Path) -> Iterator[History]:
    """Yield a copy of the history in an artifact, which stays as it is.

    Raises UsageError if there is none, ReportError if it cannot be read, HistoryError.
    """
    with tempfile.TemporaryDirectory(prefix="reprocheck-artifact-") as folder:
        copy = Path(folder) / NAME
        try:
            if zipfile.is_zipfile(source):
                _unzip(source, copy)
            else:
                _copy(source, copy)
        except (OSError, zipfile.BadZipFile) as error:
            raise ReportError(f"{source} cannot be read: {error}.", "Copy it anew.") from None
        with open_history(url_of_file(copy), create=False) as history:
            yield history


def _copy(source: Path, copy: Path) -> None:
    file = source
    if source.is_dir():
        file = next(iter(sorted(source.rglob(NAME))), source / NAME)
    if not file.is_file():
        raise _without_history(source)
    shutil.copyfile(file, copy)
    journal = file.with_name(f"{file.name}-wal")
    if journal.exists():
        shutil.copyfile(journal, copy.with_name(f"{NAME}-wal"))


def _unzip(source: Path, copy: Path) -> None:
    with zipfile.ZipFile(source) as archive:
        found = [one for one in archive.infolist() if one.filename.rpartition("/")[2] == NAME]
        if not found or found[0].file_size > MOST:
            raise _without_history(source)
        for ending in ("", "-wal"):
            name = f"{found[0].filename}{ending}"
            if name in archive.namelist():
                with archive.open(name) as member, Path(f"{copy}{ending}").open("wb") as target:
                    shutil.copyfileobj(member, target)


def _without_history(source: Path) -> UsageError:
    return UsageError(
        f"{source} is neither a night of the suite, nor has it a {NAME}.",
        "`reprocheck suite history` lists the nights; a job keeps the folder of the suite as its"
        " artifact.",
    )
