"""Causes that people reported in public, as small programs written for this purpose: which of them
the scan finds, at their lines and with their rules.

A file of causes holds programs. `=== NAME` begins one, the next line is the address of the report,
`--- PATH` begins a file of it; the first file is the one that is named to the scan. A line to blame
ends in `# << CODE ...`: a finding of one of these rules in one of these lines is what is wanted.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reprocheck.scan import scan

HERE = Path(__file__).parent
_MARK = re.compile(r"  # << ([\w ]+)$")


@dataclass(frozen=True, slots=True)
class Place:
    """What is expected: one of some rules, in a line of a file."""

    path: str
    line: int
    codes: frozenset[str]


@dataclass(frozen=True)
class Cause:
    """A reported cause, and a program that has it."""

    name: str
    report: str
    files: dict[str, str]
    places: tuple[Place, ...]

    @cached_property
    def script(self) -> str:
        """The file that is named to the scan."""
        return next(iter(self.files))

    @property
    def codes(self) -> str:
        """The rules that are expected, in order."""
        return " ".join(sorted(frozenset().union(*(place.codes for place in self.places))))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a cause is found where its file is named, and where its folder is."""

    cause: Cause
    by_file: bool
    by_folder: bool


def causes(name: str) -> list[Cause]:
    """The causes in a file beside this module."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [_cause(part) for part in re.split(r"(?m)^=== ", text)[1:]]


def outcomes(wanted: Iterable[Cause]) -> Iterator[Outcome]:
    """Scans each program twice, from files in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="causes-") as scratch:
        for number, cause in enumerate(wanted):
            folder = Path(scratch) / str(number)
            _write(cause, folder)
            yield Outcome(
                cause=cause,
                by_file=_is_found(cause, folder, folder / cause.script),
                by_folder=_is_found(cause, folder, folder),
            )


def _cause(text: str) -> Cause:
    head, *parts = re.split(r"(?m)^--- ", text)
    name, report = head.strip().splitlines()
    files: dict[str, str] = {}
    places: list[Place] = []
    for part in parts:
        path, _, source = part.partition("\n")
        lines = source.splitlines()
        for line, marked in enumerate(map(_MARK.search, lines), start=1):
            if marked is not None:
                places.append(Place(path, line, frozenset(marked[1].split())))
        files[path] = "".join(_MARK.sub("", line) + "\n" for line in lines)
    return Cause(name=name, report=report, files=files, places=tuple(places))


def _write(cause: Cause, folder: Path) -> None:
    for name, text in cause.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _is_found(cause: Cause, folder: Path, named: Path) -> bool:
    result = scan([named], jobs=1)
    found = {(Path(one.path).resolve(), one.line, one.code) for one in result.findings}
    wanted = (
        ((folder / place.path).resolve(), place.line, code)
        for place in cause.places
        for code in place.codes
    )
    return any(map(found.__contains__, wanted))
