"""Read the user's own files as they were during the run.

They are read while the check is made, and kept in the report folder for later reports.

A file that changed after the check began is not read, because its lines may not be those that ran.
Once the recording is closed, no file is read any more, so that a report is the same whenever and
wherever it is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import Protocol

import msgspec

from reprocheck.files.atomic import replacing
from reprocheck.files.limits import content
from reprocheck.ladder.shell import MAKEFILES, SHELLS
from reprocheck.model import Check, CheckRecord, Ladder, Run, SourceLine
from reprocheck.redaction import Redaction, identity, unmask

NAME = "sources.json"
MOST_BYTES, MOST_TOGETHER = 400_000, 4_000_000
"""Sizes above which a file, or all that are kept, are left out."""
NOTEBOOK, CELL = ".ipynb", ":cell "
"""A cell is named `train.ipynb:cell 3`, as the recorder and the scan name it."""
_TEXT = 200
MOST_OF = {
    ".py": MOST_BYTES,
    NOTEBOOK: 32 << 20,  # most of it is pictures
    ".mk": MOST_BYTES,
    **dict.fromkeys(SHELLS, MOST_BYTES),
}
"""The largest size of a file that is read, by how its name ends; others are not read, but for
Makefiles.
"""


class Recorded(Protocol):
    """The recorded check or resume check whose files are wanted."""

    @property
    def record(self) -> CheckRecord:
        """Return the record."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs as they were read."""

    @property
    def ladder(self) -> Ladder | None:
        """Return the ladder, which says where the runs first differ."""

    @property
    def closed(self) -> bool:
        """Return whether only the copies in the report folder are read, no longer the files."""


class Sources:
    """Texts of the user's files by the names that a report uses.

    Names are relative to the working directory, or begin with `~` for the home folder.

    While the check is made, files that the report folder lacks are looked for on this machine. When
    a check is read back (`Check.closed`), or two recordings are compared, nothing is looked for:
    names from a foreign recording must not lead to files of this machine.
    """

    def __init__(self, check: Recorded, folder: Path) -> None:
        self._file = folder / NAME
        self._started = inf
        with suppress(ValueError):
            # the record holds whole seconds
            self._started = datetime.fromisoformat(check.record.started).timestamp() + 1
        kept_files = _held(self._file)
        self._texts: dict[str, str | None] = dict(kept_files.files)
        self._changed = kept_files is _NOTHING_HELD
        self._first = next(iter(check.runs), None)
        self._roots = [Path.cwd(), folder.resolve().parent.parent]
        """The folders in which a file is looked for: none where nothing is looked for any more."""
        if kept_files.closed or check.closed or check.record.compared:
            self._roots = []
        words = check.record.entry_point.command
        notebook = next((word for word in words[1:2] if word.endswith(NOTEBOOK)), "")
        script = ""
        if not notebook:
            # what the first process that trains says, else the word of the command that is one
            traces = chain.from_iterable(run.traces for run in check.runs[:1])
            programs = map(attrgetter("process.program"), traces)
            scripts = (word for word in words if word.endswith(".py"))
            script = next(filter(None, chain(programs, scripts)), "")
        self.notebook, self.script = self._named(notebook), self._named(script)
        """The notebook that the entry point is, "" where it is none, and its script, "" where it is
        not known.
        """

    def _named(self, word: str) -> str:
        """Return the file name that a report uses for a word of a command; "" for ""."""
        if not word or self._first is None:
            return word
        # the home folder is masked in the command
        if not word.startswith("~"):
            word = str(Path(self._first.workdir, word))
        return self._first.shown(word)

    def text(self, name: str) -> str | None:
        """Return the text of a file; None if it is not available as it was during the run."""
        if name in self._texts:
            return self._texts[name]
        text = self._read(name)
        if text is not None:
            self._texts[name] = text
            self._changed = True
        return text

    def has(self, name: str) -> bool:
        """Return whether a file exists.

        The answer is kept in the report folder, so that the next report gets the same one.
        """
        return self.text(name) is not None

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the code cells, if the entry point is a notebook; else empty."""
        if not self.notebook:
            return ()
        beginning = f"{self.notebook}{CELL}"
        path = self._find(self.notebook)
        if path is not None:
            return tuple(f"{beginning}{number}" for number in _cells(path))
        kept = [name for name in self._texts if name.startswith(beginning)]
        return tuple(sorted(kept, key=numbered))

    def with_text(self, line: SourceLine | None) -> SourceLine | None:
        """Return a line with its text, if the text is known."""
        if line is None or line.text or line.line < 1:
            return line
        lines = (self.text(line.file) or "").splitlines()
        # nothing where the file has fewer lines
        text = "".join(lines[line.line - 1 : line.line])
        return replace(line, text=text.strip()[:_TEXT])

    def keep(self) -> None:
        """Write the texts that were read to the report folder, atomically.

        A folder that cannot be written is left as it is.
        """
        if self._changed and _write(self._file, _Held(files=self._texts)):
            self._changed = False

    def _read(self, name: str) -> str | None:
        path = self._find(name)
        if path is None:
            return None
        try:
            if path.suffix == NOTEBOOK:
                source = _cells(path)[name.partition(CELL)[2]]
            else:
                source = path.read_text(encoding="utf-8", errors="replace")
            # as it may leave this machine: without names of home, user and host, without secrets
            is_python = path.suffix in (".py", NOTEBOOK)
            text = Redaction("folder", identity=identity()).source(source, python=is_python)
        except (OSError, LookupError):
            return None
        together = sum(map(len, filter(None, self._texts.values())))
        if together + len(text) > MOST_TOGETHER:
            return None
        return text

    def _find(self, name: str) -> Path | None:
        for root in self._roots:
            path = root / unmask(name.partition(CELL)[0], *identity())
            # a name out of a trace may be no path at all
            with suppress(OSError, ValueError):
                state = path.stat()
                unchanged = state.st_mtime < self._started
                most = MOST_BYTES if path.name in MAKEFILES else MOST_OF.get(path.suffix, -1)
                if unchanged and state.st_size <= most:
                    return path
        return None


def _cells(path: Path) -> dict[str, str]:
    """Return number -> text of the code cells of a notebook, in order.

    Empty if it cannot be read.
    """
    from reprocheck.files.source_text import UnreadableError, code_cells, split

    try:
        text, cells = code_cells(path.read_bytes())
    except (UnreadableError, OSError):
        return {}
    lines = split(text)
    ends = [*(cell.first_line - 1 for cell in cells[1:]), len(lines)]
    return {
        str(cell.number): "\n".join(lines[cell.first_line - 1 : end])
        for cell, end in zip(cells, ends, strict=True)
    }


def numbered(name: str) -> tuple[str, int]:
    """Return the file and the cell number of a name such as `train.ipynb:cell 3`.

    0 if it is no cell.
    """
    file, _, number = name.partition(CELL)
    if not number.isdecimal():
        return file, 0
    return file, int(number)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Held:
    """The files that a report folder holds.

    files   name -> text; None for a file that was looked for and not found
    closed  whether no further files are looked for
    second  for two separate recordings: name -> text in the second, if it differs from the first
    """

    files: Mapping[str, str | None]
    closed: bool = False
    second: Mapping[str, str] = field(default_factory=dict)


_NOTHING_HELD = _Held(files={})


def kept(folder: Path) -> dict[str, str]:
    """Return name -> text of the user's files that a report folder holds."""
    return {name: text for name, text in _held(folder / NAME).files.items() if text}


def close(folder: Path) -> None:
    """Mark the recording in a report folder as ended: reports then use only files in it."""
    file = folder / NAME
    kept_files = _held(file)
    if kept_files is _NOTHING_HELD or kept_files.closed:
        return
    _write(file, replace(kept_files, closed=True))


def both_sides(check: Check, folder: Path) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield name, first text and second text of each file in two separate recordings.

    A text is None if that recording has no such file.
    """
    kept_files, sides = _held(folder / NAME), check.record.compared
    if len(sides) != 2:
        return
    first, second = ({name: kept_files.files.get(name) for name in side.sources} for side in sides)
    second |= {name: text for name, text in kept_files.second.items() if name in second}
    for name in sorted({*first, *second}):
        if kept_files.files.get(name) is not None:
            yield name, first.get(name), second.get(name)


def _held(file: Path) -> _Held:
    """Return the files that a report folder holds; none if they cannot be read."""
    try:
        return msgspec.convert(json.loads(content(file)), _Held)
    except (OSError, ValueError, RecursionError):
        return _NOTHING_HELD


def _write(file: Path, held: _Held) -> bool:
    """Write the files atomically; return whether that succeeded."""
    plain: dict[str, object] = {"files": dict(held.files), "closed": held.closed}
    if held.second:
        plain["second"] = dict(held.second)
    with suppress(OSError):
        with replacing(file) as stream:
            stream.write(json.dumps(plain, indent=1, sort_keys=True).encode())
        return True
    return False
