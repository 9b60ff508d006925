"""`resume.json` of a report folder."""

from __future__ import annotations

import os
from pathlib import Path

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing
from reprocheck.files.limits import NotRegularError, content
from reprocheck.recording import record
from reprocheck.resume.model import CONTINUED, SCHEMA_VERSION, ResumeRecord

NO_ROOM = "Free some space there, or name another folder with --output."


def put(folder: Path, name: str, data: bytes) -> None:
    """Write a file. Raises ReportError."""
    try:
        with replacing(folder / name) as file:
            file.write(data)
    except OSError as error:
        raise ReportError(
            f"{folder / name} cannot be written: {error.strerror or error}.", NO_ROOM
        ) from None


NAME = record.RESUME
MOST_PLACES, MOST_ITERATIONS = 1000, 10**9
"""More than any check has: a record that says more was not written by reprocheck."""


def is_one(folder: Path) -> bool:
    """Return whether a report folder is that of a check of a resume."""
    return os.path.lexists(folder / NAME)


def write(folder: Path, resume: ResumeRecord) -> None:
    """Write the record in one step. Raises ReportError."""
    import msgspec

    plain = msgspec.to_builtins(resume, enc_hook=str)
    put(folder, NAME, msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")


def read(folder: Path) -> ResumeRecord:
    """Read the record. Raises ReportError if it is missing, broken or of a newer reprocheck."""
    import msgspec

    path = folder / NAME
    try:
        resume = msgspec.json.decode(content(path), type=ResumeRecord)
    except NotRegularError as error:
        raise ReportError(f"{path} is not read: {error.strerror}.", "Do not use it.") from None
    except OSError as error:
        raise ReportError(
            f"{path} cannot be read: {error.strerror or error}.",
            "Name a folder that `reprocheck resume` has written.",
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReportError(
            f"{path} is not a record of a resume: {error}.", "Make the check again."
        ) from None
    if why := _impossible(resume):
        raise ReportError(f"{path} is not a record of a resume: {why}.", "Do not use it.")
    if resume.schema_version > SCHEMA_VERSION:
        raise ReportError(
            f"{path} was written by a newer reprocheck.",
            "Upgrade reprocheck: pip install --upgrade reprocheck",
        )
    return resume


def _impossible(resume: ResumeRecord) -> str:
    """Return why reprocheck cannot have written a record; "" if it can."""
    arms = sum(len(place.arms) for place in resume.places)
    if len(resume.places) + arms > MOST_PLACES:
        return f"it holds {len(resume.places):,} places and {arms:,} further runs"
    numbers = [resume.go_on, resume.within]
    if any(place.run == CONTINUED for place in resume.places):
        return "a resumed run is the continued run"
    numbers += [place.checkpoint.iteration for place in resume.places if place.checkpoint]
    if any(not 0 <= number <= MOST_ITERATIONS for number in numbers):
        return "it holds numbers of iterations that no training has"
    return ""
