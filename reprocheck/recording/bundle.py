"""Pack a recording into one file.

`reprocheck record -o run.zip` writes it, and `reprocheck compare` reads it. Imports record, model
and errors.

A zip from elsewhere is not trusted: only files that a recording has are unpacked, up to a limit of
size, into a new folder, and nothing is executed. Files that the record names are searched in that
folder only. The zip of a whole report folder is read as well, with that folder in front of each
name or without it; its reports and copies are not unpacked.
"""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing
from reprocheck.files.limits import MOST_FILES, unpacked_too_large
from reprocheck.model import CheckRecord
from reprocheck.recording import record as records

MOST_BYTES = 8 << 30
"""Of all that a zip holds, taken together, once unpacked."""
CHUNK = 1 << 20

_FILE = re.compile(
    rf"record\.json|resume\.json|sources\.json|arms/fix\.patch|{records.RUN}/(?:stdout\.log|stderr\.log|trace/(?:recorder\.json|[\w.,=@-]{{1,200}}\.(?:jsonl|losses|lost)))"
)
_RECORD = re.compile(r"(?:[^/]{1,200}/)?record\.json")
"""Of the zip of a report folder, with the folder in front or without it."""
_LEADS_AWAY = re.compile(r"^[/~]|^[A-Za-z]:|\\|(?:^|/)\.\.(?:/|$)")
_DISTRUST = "Do not use it, or ask whoever made it for the report folder itself."
_AGAIN = "Record it again with `reprocheck record -o FILE.zip`, and copy the whole file."


def pack(folder: Path, file: Path) -> None:
    """Write the recording in `folder` as a zip, in one step.

    The arms of a search (its runs under controls), reports and copies of files are left out. Raises
    ReportError.
    """
    record = replace(records.read(folder), arms=())
    of_runs = [path for path in files(folder) if not path.startswith("arms/")]
    _write(file, folder, record, of_runs)


def pack_all(folder: Path, file: Path, reports: Iterable[str]) -> None:
    """Write a whole check as a zip: its recording, the arms of its search, and its reports.

    The arms are the runs under controls. Raises ReportError.

    reports  names of reports to add; names without a file are skipped
    """
    drawn = [name for name in reports if _is_regular(folder / name)]
    _write(file, folder, records.read(folder), [*files(folder), *drawn])


def _write(file: Path, folder: Path, record: CheckRecord, names: Iterable[str]) -> None:
    try:
        with (
            replacing(file) as raw,
            zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
        ):
            archive.writestr(records.NAME, records.encode(record))
            for path in names:
                if path != records.NAME:
                    archive.write(folder / path, path)
    except OSError as error:
        raise ReportError(
            f"{file} cannot be written: {error.strerror or error}.", "Name another file with -o."
        ) from None


def files(folder: Path, below: str = "") -> list[str]:
    """Return the paths of the files of a recording, relative to its folder and sorted.

    Links do not count as files.

    below  the folder of one run, such as `run-1`, to return only the files of this run; "" for all
    """
    paths = []
    for parent, _, names in os.walk(folder / below):
        for name in names:
            path = Path(parent, name)
            inside = path.relative_to(folder).as_posix()
            if _FILE.fullmatch(inside) and _is_regular(path):
                paths.append(inside)
    return sorted(paths)


def _is_regular(path: Path) -> bool:
    """Return whether a path is a regular file and no link."""
    return path.is_file() and not path.is_symlink()


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """Yield the folder of a recording; a zip is unpacked into a temporary folder.

    Raises ReportError if `path` is no recording, is damaged, or holds files of another kind.
    """
    if path.is_dir():
        read(path)
        yield path
        return
    if not path.exists():
        raise ReportError(
            f"There is no recording {path}.", "`reprocheck record -o FILE.zip train.py` makes one."
        )
    with tempfile.TemporaryDirectory(prefix="reprocheck-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        try:
            _unpack(path, folder)
            read(folder)
            yield folder
        except ReportError as error:
            named = error.message.replace(temporary, str(path))
            raise ReportError(named, error.fix) from None


def read(folder: Path) -> CheckRecord:
    """Return the record of a recording.

    Raises ReportError if there is no record, if the record names no run, or if the record names
    files outside of the folders of a recording.
    """
    record = records.read(folder)
    if not record.runs:
        raise ReportError(f"{folder} holds no run.", _AGAIN)
    return record


def _unpack(file: Path, folder: Path) -> None:
    """Unpack those files of a zip that belong to a recording. Raises ReportError."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = _of_recording(file, archive.infolist())
            _check_entries(file, [entry for _, entry in entries])
            left = MOST_BYTES
            for name, entry in entries:
                left -= _take(archive, entry, folder / name, left, file)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise ReportError(
            f"{file} is no recording, or not the whole of one: {error}.".replace("..", "."), _AGAIN
        ) from None
    except OSError as error:
        raise ReportError(
            f"{file} cannot be read: {error.strerror or error}.",
            "Check its permissions, and the space in TMPDIR.",
        ) from None
    except Exception as error:
        if type(error).__module__ == "zlib":
            raise ReportError(f"{file} is damaged: {error}.", _AGAIN) from None
        raise


def _of_recording(
    file: Path, entries: Iterable[zipfile.ZipInfo]
) -> list[tuple[str, zipfile.ZipInfo]]:
    """Return (path in the recording, entry of the zip) for each entry that belongs to a recording.

    Raises ReportError if the name of an entry leads out of the folder, such as `../file`.
    """
    named = [(entry.filename, entry) for entry in entries]
    odd = next((name for name, _ in named if _LEADS_AWAY.search(name)), None)
    if odd is not None:
        raise ReportError(f"{file} holds {odd!r}, which is no file of a recording.", _AGAIN)
    folders = [name.removesuffix(records.NAME) for name, _ in named if _RECORD.fullmatch(name)]
    within = min(folders, key=len, default="")
    inside = [
        (name.removeprefix(within), entry) for name, entry in named if name.startswith(within)
    ]
    return [(name, entry) for name, entry in inside if _FILE.fullmatch(name)]


def _check_entries(file: Path, entries: list[zipfile.ZipInfo]) -> None:
    sizes = list(map(attrgetter("filename", "file_size", "compress_size"), entries))
    names = {name for name, _, _ in sizes}
    unpacked = sum(size for _, size, _ in sizes)
    packed = sum(size for _, _, size in sizes)
    if len(names) != len(entries):
        raise ReportError(f"{file} holds a file twice.", _AGAIN)
    if len(names) > MOST_FILES or unpacked > MOST_BYTES:
        raise ReportError(
            f"{file} holds more than {MOST_FILES:,} files or {MOST_BYTES >> 30} GiB.",
            "Record fewer iterations: `--steps`.",
        )
    if packed > file.stat().st_size:
        raise ReportError(f"{file} holds files that overlap.", _DISTRUST)
    why = unpacked_too_large(sizes)
    if why:
        raise ReportError(f"{file} is not opened: {why}.", _DISTRUST)
    if any(entry.flag_bits & 1 for entry in entries):
        raise ReportError(f"{file} is encrypted.", "Decrypt it first.")


def _take(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, left: int, file: Path
) -> int:
    """Unpack one entry of a zip to the file `target`; return its size in bytes.

    Raises ReportError if the file is longer than `left` or than the zip says, because the sizes
    that a zip states can be wrong.

    left  bytes that may still be unpacked from this zip
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with archive.open(entry) as source, target.open("xb") as out:
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > min(left, entry.file_size):
                raise ReportError(f"{file} holds more than it says.", "Do not use it.")
            out.write(chunk)
    return size
