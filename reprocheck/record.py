"""`record.json` of a report folder: written by the launcher after every run, read again by every report.

Non-finite floats are written as the strings `"nan"`, `"inf"` and `"-inf"`: in a float field they come back as floats.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from reprocheck.atomic import replacing
from reprocheck.errors import ReportError
from reprocheck.model import SCHEMA_VERSION, CheckRecord

NAME = "record.json"


def write(folder: Path, record: CheckRecord) -> None:
    """Write `folder`/record.json in one step: a reader sees the old or the new one whole. Raises ReportError."""
    data = encode(record)
    try:
        with replacing(folder / NAME) as file:
            file.write(data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ReportError(f"cannot write {folder / NAME}: {reason}", "choose a folder that can be written with --output") from None


def encode(record: CheckRecord) -> bytes:
    """A record as it stands in the file."""
    import msgspec

    plain = _plain(msgspec.to_builtins(record, enc_hook=str))
    return bytes(msgspec.json.format(msgspec.json.encode(plain), indent=2)) + b"\n"


def read(folder: Path) -> CheckRecord:
    """Read `folder`/record.json. Raises ReportError where it is missing, broken or of a newer reprocheck."""
    import msgspec

    path = folder / NAME
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ReportError(f"{folder} is not a report folder: it has no {NAME}", "name a folder that `reprocheck run` has written") from None
    except OSError as error:
        raise ReportError(f"cannot read {path}: {error.strerror or error}", "check the permissions of the folder") from None
    try:
        plain = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _broken(path, error) from None
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _broken(path, f"schema_version is {version!r}")
    if version > SCHEMA_VERSION:
        writer = plain.get("reprocheck_version", "of unknown version")
        message = f"{path} was written by a newer reprocheck ({writer}, schema {version}; this one reads up to {SCHEMA_VERSION})"
        raise ReportError(message, "upgrade reprocheck: pip install --upgrade reprocheck")
    try:
        return msgspec.convert(plain, CheckRecord, strict=False)
    except msgspec.ValidationError as error:
        raise _broken(path, error) from None


def _broken(path: Path, why: object) -> ReportError:
    return ReportError(f"{path} is not a record of a check: {why}", "run the check again; the traces and logs beside it are kept")


def _plain(value: Any) -> Any:
    """`value` with non-finite floats as strings, since JSON has none."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
