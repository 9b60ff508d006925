"""Writes and reads `record.json` of a report folder.

The launcher writes the file after every run, and every report reads it. Non-finite floats are
written as the strings `"nan"`, `"inf"` and `"-inf"`; in a float field they come back as floats.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing
from reprocheck.files.limits import NotRegularError, content, too_large
from reprocheck.model import SCHEMA_VERSION, CheckRecord, RunRecord

T = TypeVar("T")
NAME = "record.json"
RESUME = "resume.json"
"""Beside it in the folder of a check of a resume, whose runs are no runs of one check."""
RUN = r"(?:(?:later/)?(?:module|op)/|arms/[\w.+-]{1,200}/)?run-\d{1,6}"
"""The folder of a run, as a regular expression."""
_OF_A_SIDE = rf"(?:{RUN}|side-[12]/run-\d{{1,6}})"
_PLACES = {
    "trace": re.compile(rf"{_OF_A_SIDE}/trace"),
    "stdout": re.compile(rf"{_OF_A_SIDE}/stdout\.log"),
    "stderr": re.compile(rf"{_OF_A_SIDE}/stderr\.log"),
}
"""Where the files of a run lie. A record that somebody else made may name others."""
_DISTRUST = "Do not use it, or ask whoever made it for the folder itself."
MOST_RUNS, MOST_IN_ONE, MOST_FACTS = 10_000, 3, 5_000
"""More than any check has: a record that holds more was not written by reprocheck, and would take
minutes to draw. A run may be one of the check, of a deeper pair and of a side that is compared.
"""


@dataclass(frozen=True, slots=True)
class _Head:
    """Hold the versions at the head of a record, which say whether the rest can be read."""

    schema_version: object = None
    reprocheck_version: str = "of unknown version"


def write(folder: Path, record: CheckRecord) -> None:
    """Write `folder`/record.json in one step, so that a reader sees either the old or the new file.

    Raises ReportError.
    """
    data = encode(record)
    try:
        with replacing(folder / NAME) as file:
            file.write(data)
    except FileNotFoundError:
        raise removed(folder) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ReportError(
            f"cannot write {folder / NAME}: {reason}",
            "choose a folder that can be written with --output",
        ) from None


def removed(folder: Path) -> ReportError:
    """Return the error for a report folder that the script removed."""
    return ReportError(
        f"{folder} was removed while the runs were under way",
        "name a folder that the script leaves alone with --output",
    )


def encode(record: CheckRecord) -> bytes:
    """Return a record as the bytes of record.json."""
    import msgspec

    plain = _plain(msgspec.to_builtins(record, enc_hook=str))
    return bytes(msgspec.json.format(msgspec.json.encode(plain), indent=2)) + b"\n"


def read(folder: Path) -> CheckRecord:
    """Read `folder`/record.json.

    Raises ReportError if the file is missing, is broken, was written by a newer reprocheck, or
    names files outside of the folders of a recording.
    """
    path = folder / NAME
    _refuse_large(folder)
    try:
        data = content(path)
    except (FileNotFoundError, NotADirectoryError):
        raise ReportError(
            f"{folder} is not a report folder: it has no {NAME}",
            "name a folder that `reprocheck run` has written",
        ) from None
    except NotRegularError as error:
        raise ReportError(f"{path} is not read: {error.strerror}.", _DISTRUST) from None
    except OSError as error:
        raise ReportError(
            f"cannot read {path}: {error.strerror or error}", "check the permissions of the folder"
        ) from None
    head = _decoded(path, data, _Head)
    version = head.schema_version
    if type(version) is not int or version < 1:
        raise _broken(path, f"schema_version is {version!r:.100}")
    if version > SCHEMA_VERSION:
        writer = f"{head.reprocheck_version:.100}"
        message = (
            f"{path} was written by a newer reprocheck ({writer}, schema {version}; this one reads"
            f" up to {SCHEMA_VERSION})"
        )
        raise ReportError(message, "upgrade reprocheck: pip install --upgrade reprocheck")
    record = _decoded(path, data, CheckRecord, strict=False)
    why = _too_many(record)
    if not record.entry_point.command:
        why = "it names no command"
    if why:
        raise _broken(path, why)
    folders: set[PurePosixPath] = set()
    for run in _all_runs(record):
        # with a file that stands for all of its traces
        for file in (run.stdout, run.stderr, f"{run.trace}/1-1"):
            folders.update(PurePosixPath(file).parents)
        for name, pattern in _PLACES.items():
            place = getattr(run, name)
            if pattern.fullmatch(place) is None:
                raise ReportError(
                    f"The record of {folder} names {place!r}, which is no place in a recording.",
                    "Do not use it.",
                )
    folders.discard(PurePosixPath())
    linked = next(filter(Path.is_symlink, map(folder.joinpath, sorted(folders))), None)
    if linked is not None:
        raise ReportError(f"{linked} is a link, and not read.", _DISTRUST)
    return record


def _all_runs(record: CheckRecord) -> Iterator[RunRecord]:
    """Return all runs that a record names.

    They are those of the check itself, of its deeper levels, under its controls, and of two
    compared recordings.
    """
    sources = (
        *record.deeper,
        *record.arms,
        *record.trials,
        *record.reseeded,
        *record.compared,
    )
    groups = map(attrgetter("runs"), sources)
    return chain(record.runs, chain.from_iterable(groups))


def _decoded(path: Path, data: bytes, kind: type[T], *, strict: bool = True) -> T:
    """Return the JSON `data` of the file `path` as an object of the class `kind`.

    Raises ReportError.

    strict  whether a value must have the declared type, so that "1" is no number
    """
    import msgspec

    try:
        return msgspec.json.decode(data, type=kind, strict=strict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _broken(path, error) from None


def _refuse_large(folder: Path) -> None:
    """Raise ReportError if a file of the folder is larger than any that reprocheck writes.

    Looked at are record.json and sources.json, which are read as a whole.
    """
    for name in (NAME, "sources.json"):
        try:
            why = too_large(folder / name)
        except OSError:
            continue  # there is none, or the reading itself says what is wrong
        if why:
            raise ReportError(
                f"{folder} is not read: {why}.",
                "Do not use it, or ask whoever made it for another one.",
            )


def _too_many(record: CheckRecord) -> str:
    """Return why reprocheck cannot have written a record of more entries than any check; or ""."""
    folders = Counter(run.trace for run in _all_runs(record))
    counts = {
        "runs": (folders.total(), MOST_RUNS),
        "runs in one folder": (max(folders.values(), default=0), MOST_IN_ONE),
        "facts of the environment": (len(record.environment), MOST_FACTS),
        "settings": (len(record.settings), MOST_FACTS),
        "caveats": (len(record.caveats) + len(record.changed_to_observe), MOST_FACTS),
        "files of earlier checks": (len(record.earlier), MOST_FACTS),
        "arms of a search": (len(record.arms) + len(record.trials), MOST_RUNS),
        "deeper pairs": (len(record.deeper), MOST_RUNS),
    }
    return next(
        (f"it holds {number:,} {what}" for what, (number, most) in counts.items() if number > most),
        "",
    )


def _broken(path: Path, why: object) -> ReportError:
    return ReportError(
        f"{path} is not a record of a check: {why}",
        "run the check again; the traces and logs beside it are kept",
    )


def _plain(value: Any) -> Any:
    """Return `value` in a form that JSON can hold.

    Non-finite floats become strings such as `nan`; bytes of file names that are no UTF-8 are
    escaped.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
