"""A baseline: the findings of a project that are known, in a file, so that a scan speaks of new
ones alone.

A finding is known again by its file, its rule and the text of its line, so that lines may move. Of
equal ones as many are known as the file counts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from reprocheck.errors import UsageError
from reprocheck.files.atomic import put
from reprocheck.scan.finding import Finding, Known, Result

VERSION = 1


class Key(NamedTuple):
    """What a finding is known by: see `Known`."""

    path: str
    code: str
    line: str


class Baseline(msgspec.Struct, frozen=True):
    """What the file holds.

    scanned   the paths that were scanned, from the folder of the baseline; none where it is of
              some rules alone, or was written by an earlier version
    """

    schema_version: int
    findings: tuple[Known, ...]
    scanned: tuple[str, ...] = ()

    def counts(self) -> Counter[Key]:
        """Return how many findings of a kind are known."""
        return Counter({Key(one.path, one.code, one.line): one.count for one in self.findings})


def write(file: Path, findings: Iterable[Finding], scanned: Iterable[Path]) -> None:
    """Write the baseline of these findings in these paths. Raises UsageError."""
    counts = Counter(_key(finding, file) for finding in findings)
    known = tuple(sorted(Known(*key, count) for key, count in counts.items()))
    paths = tuple(sorted(_from(file, path) for path in scanned))
    data = msgspec.json.encode(Baseline(VERSION, known, paths))
    try:
        put(file, msgspec.json.format(data, indent=1) + b"\n")
    except OSError as error:
        raise UsageError(
            f"{file} cannot be written: {error.strerror or error}.", "Name another file."
        ) from None


def compared(result: Result, file: Path, scanned: Sequence[Path] = ()) -> Result:
    """Return the result with the findings that the baseline does not hold; those that it holds are
    `known`.

    What it holds beyond that is `gone`, where all was scanned that was scanned for the baseline:
    with fewer files a program may be missing that leads to a finding in another file. `scanned` is
    what was asked for, nothing where only some rules were.

    Raises UsageError for a file that cannot be read.
    """
    baseline = _read(file)
    left = baseline.counts()
    new: list[Finding] = []
    known = list(result.known)
    for finding in result.findings:
        key = _key(finding, file)
        if left[key] > 0:
            left[key] -= 1
            known.append(finding)
        else:
            new.append(finding)
    gone: tuple[Known, ...] = ()
    here = [path.resolve() for path in scanned]
    there = [(file.parent / path).resolve() for path in baseline.scanned]
    if there and all(any(map(path.is_relative_to, here)) for path in there):
        unclear = {_from(file, Path(one.path)) for one in result.unreadable}
        gone = tuple(Known(*key, count) for key, count in left.items() if key.path not in unclear)
    gone = tuple(one for one in sorted(gone) if one.count > 0)
    return replace(result, findings=tuple(new), known=tuple(known), gone=gone)


def _read(file: Path) -> Baseline:
    """Return what a baseline holds. Raises UsageError."""
    again = f"Write it with `reprocheck scan --write-baseline {file}`."
    try:
        baseline = msgspec.json.decode(file.read_bytes(), type=Baseline)
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
    return baseline


def _key(finding: Finding, file: Path) -> Key:
    line = " ".join(finding.text.split())
    return Key(_from(file, Path(finding.path)), finding.code, line)


def _from(file: Path, path: Path) -> str:
    """Return a path from the folder of the baseline, with forward slashes."""
    return os.path.relpath(path, file.parent).replace(os.sep, "/")
