"""A baseline: the findings of a project that are known, in a file, so that a scan speaks of new
ones alone.

A finding is known again by its file, its rule and the text of its line, so that lines may move. Of
equal ones as many are known as the file counts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from reprocheck.errors import UsageError
from reprocheck.files.atomic import put
from reprocheck.scan.finding import Finding, Result

VERSION = 1


class Known(msgspec.Struct, frozen=True, order=True):
    """Findings that are known.

    path    from the folder of the baseline, with forward slashes
    line    the text of the line, spaces aside
    count   how many there are of them
    """

    path: str
    code: str
    line: str
    count: int


class _Baseline(msgspec.Struct, frozen=True):
    schema_version: int
    findings: tuple[Known, ...]


def write(file: Path, findings: Iterable[Finding]) -> None:
    """Writes the baseline of these findings. Raises UsageError."""
    counts = Counter(_key(finding, file) for finding in findings)
    known = sorted(Known(*key, count) for key, count in counts.items())
    data = msgspec.json.encode(_Baseline(VERSION, tuple(known)))
    try:
        put(file, msgspec.json.format(data, indent=1) + b"\n")
    except OSError as error:
        raise UsageError(
            f"{file} cannot be written: {error.strerror or error}.", "Name another file."
        ) from None


def compared(result: Result, file: Path) -> Result:
    """The result with the findings that the baseline does not hold; those that it holds are
    `known`.

    Raises UsageError for a file that cannot be read.
    """
    left = Counter({(one.path, one.code, one.line): one.count for one in _read(file)})
    new: list[Finding] = []
    known = list(result.known)
    for finding in result.findings:
        key = _key(finding, file)
        if left[key] > 0:
            left[key] -= 1
            known.append(finding)
        else:
            new.append(finding)
    return replace(result, findings=tuple(new), known=tuple(known))


def _read(file: Path) -> tuple[Known, ...]:
    again = f"Write it with `reprocheck scan --write-baseline {file}`."
    try:
        baseline = msgspec.json.decode(file.read_bytes(), type=_Baseline)
    except OSError as error:
        raise UsageError(
            f"The baseline {file} cannot be read: {error.strerror or error}.", again
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is no baseline: {error}.", again) from None
    if baseline.schema_version != VERSION:
        raise UsageError(
            f"{file} is a baseline of version {baseline.schema_version}; this one reads {VERSION}.",
            again,
        )
    return baseline.findings


def _key(finding: Finding, file: Path) -> tuple[str, str, str]:
    path = os.path.relpath(finding.path, file.parent).replace(os.sep, "/")
    return path, finding.code, " ".join(finding.text.split())
