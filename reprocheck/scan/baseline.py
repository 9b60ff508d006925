"""Compare findings with a baseline: a file of known findings, so that a scan reports only new ones.

A finding is known if its file, its rule and the text of its line are in the baseline, so that lines
may move. Among equal findings, as many are known as the baseline counts.
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
    """The file, rule and line text by which a finding is recognized: see `Known`."""

    path: str
    code: str
    line: str


class Baseline(msgspec.Struct, frozen=True):
    """The content of a baseline file.

    schema_version  the version of the file format
    findings        the known findings
    scanned         the scanned paths, relative to the folder of the baseline; empty if only some
                    rules were scanned, or an earlier version wrote the file
    """

    schema_version: int
    findings: tuple[Known, ...]
    scanned: tuple[str, ...] = ()

    def counts(self) -> Counter[Key]:
        """Return how often each finding is in the baseline."""
        return Counter({Key(one.path, one.code, one.line): one.count for one in self.findings})


def write(file: Path, findings: Iterable[Finding], scanned: Iterable[Path]) -> None:
    """Write a baseline with these findings and scanned paths. Raises UsageError."""
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
    """Return the result with only the findings that are not in the baseline.

    The others are `known`.

    Findings that are only in the baseline are `gone`, but only if all paths of the baseline were
    scanned, because a program outside of a smaller scan may lead to a finding. `scanned` are the
    scanned paths; empty if only some rules were asked for. Raises UsageError if the file cannot be
    read.
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
    gone: list[Known] = []
    if _holds(scanned, [file.parent / path for path in baseline.scanned]):
        unclear = {_from(file, Path(one.path)) for one in result.unreadable}
        rest = [Known(*key, count) for key, count in left.items() if key.path not in unclear]
        gone = sorted(one for one in rest if one.count > 0)
    return replace(result, findings=tuple(new), known=tuple(known), gone=tuple(gone))


def _holds(scanned: Sequence[Path], paths: Sequence[Path]) -> bool:
    """Return whether there are paths, and each of them is one of those scanned or lies in one."""
    folders = [path.resolve() for path in scanned]
    return bool(paths) and all(any(map(path.resolve().is_relative_to, folders)) for path in paths)


def _read(file: Path) -> Baseline:
    """Return the content of a baseline file. Raises UsageError."""
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
    """Return a path relative to the folder of the baseline, with forward slashes."""
    return os.path.relpath(path, file.parent).replace(os.sep, "/")
