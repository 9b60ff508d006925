"""The files of a report folder of a check of a resume, each written in one step."""

from __future__ import annotations

from pathlib import Path

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing

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
