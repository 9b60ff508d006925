"""The user's own files as they were at the time of the run: read while it is recorded, and kept in
the report folder for every drawing.

A file that changed after the check began is not read: its lines may not be those that ran. Once the
recording is closed no file is read any more, so that a report is the same whenever and wherever it
is drawn.
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
    """What was recorded: a check, or a check of a resume."""

    @property
    def record(self) -> CheckRecord:
        """Return what was run."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs as they were read."""

    @property
    def ladder(self) -> Ladder | None:
        """Return where they first differ."""

    @property
    def closed(self) -> bool:
        """Return whether no file of the user's is read any more."""


class Sources:
    """Texts of files by the names that a report has for them: relative to the working directory, or
    with the home folder as `~`.

    What the report folder does not hold yet is looked for while the check is made. Where it is read
    back (`Check.closed`), and in the folder of a comparison, nothing is: names that a recording
    from elsewhere holds lead to no file of this machine, whatever it says of itself.
    """

    def __init__(self, check: Recorded, folder: Path) -> None:
        self._file = folder / NAME
        self._started = inf
        with suppress(ValueError):
            # the record holds whole seconds
            self._started = datetime.fromisoformat(check.record.started).timestamp() + 1
        held = _held(self._file)
        self._texts: dict[str, str | None] = dict(held.files)
        self._changed = held is _NOTHING_HELD
        self._first = next(iter(check.runs), None)
        self._roots = [Path.cwd(), folder.resolve().parent.parent]
        """The folders in which a file is looked for: none where nothing is looked for any more."""
        if held.closed or check.closed or check.record.compared:
            self._roots = []
        self.notebook = self._named(_notebook(check))
        self.script = self._named(_script(check))
        """The script of the entry point, "" where it is not known, and the notebook that it is, ""
        where it is none.
        """

    def _named(self, word: str) -> str:
        """Return a file as a report names it, from a word of a command; "" for ""."""
        if not word or self._first is None:
            return word
        # the home folder is masked in the command
        if not word.startswith("~"):
            word = str(Path(self._first.workdir, word))
        return self._first.shown(word)

    def text(self, name: str) -> str | None:
        """Return the text of a file; None where it cannot be had as it was."""
        if name in self._texts:
            return self._texts[name]
        text = self._read(name)
        if text is not None:
            self._texts[name] = text
            self._changed = True
        return text

    def has(self, name: str) -> bool:
        """Return whether there is such a file.

        What a drawing was told of it is kept: the next one is told the same.
        """
        return self.text(name) is not None

    @property
    def cells(self) -> tuple[str, ...]:
        """Names of the code cells, where the entry point is a notebook."""
        if not self.notebook:
            return ()
        beginning = f"{self.notebook}{CELL}"
        path = self._find(self.notebook)
        if path is not None:
            return tuple(f"{beginning}{number}" for number in _cells(path))
        kept = [name for name in self._texts if name.startswith(beginning)]
        return tuple(sorted(kept, key=numbered))

    def with_text(self, line: SourceLine | None) -> SourceLine | None:
        """Return a line with its text, where that is known."""
        if line is None or line.text or line.line < 1:
            return line
        lines = (self.text(line.file) or "").splitlines()
        # nothing where the file has fewer lines
        text = "".join(lines[line.line - 1 : line.line])
        return replace(line, text=text.strip()[:_TEXT])

    def keep(self) -> None:
        """Write down what was read, in one step.

        A folder that cannot be written is left as it is.
        """
        if self._changed and _write(self._file, _Held(files=self._texts)):
            self._changed = False

    def _read(self, name: str) -> str | None:
        path = self._find(name)
        if path is None:
            return None
        try:
            text = _read_shareable(path, name)
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


def _read_shareable(path: Path, name: str) -> str:
    """Source as it may leave this machine: without names of home, user and host, and without
    secrets. LookupError where a notebook has no such cell.
    """
    if path.suffix == NOTEBOOK:
        text = _cells(path)[name.partition(CELL)[2]]
    else:
        text = path.read_text(encoding="utf-8", errors="replace")
    is_python = path.suffix in (".py", NOTEBOOK)
    return Redaction("folder", identity=identity()).source(text, python=is_python)


def _cells(path: Path) -> dict[str, str]:
    """Return the code cells of a notebook by their numbers, in their order; none where it cannot be
    read.
    """
    from reprocheck.files.notebook import code_cells
    from reprocheck.files.source_text import UnreadableError, split

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
    """Return a name as that of a notebook and the number of its cell; 0 for what is no cell."""
    file, _, number = name.partition(CELL)
    if not number.isdecimal():
        return file, 0
    return file, int(number)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Held:
    """What the report folder holds. `closed`: nothing is looked for any more that it does not hold.

    `second`: of two recordings, what the second has where the first has another text.
    """

    files: Mapping[str, str | None]
    closed: bool = False
    second: Mapping[str, str] = field(default_factory=dict)


_NOTHING_HELD = _Held(files={})


def kept(folder: Path) -> dict[str, str]:
    """Return the user's files that a report folder keeps: texts by name."""
    return {name: text for name, text in _held(folder / NAME).files.items() if text}


def close(folder: Path) -> None:
    """Draw the reports of a folder from the files that it holds, and from no others, from now on.

    Its recording has ended.
    """
    file = folder / NAME
    held = _held(file)
    if held is _NOTHING_HELD or held.closed:
        return
    _write(file, replace(held, closed=True))


def both_sides(check: Check, folder: Path) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield, of two recordings, each file by name, as the first and as the second has it; None
    where a side has no such file.
    """
    held, sides = _held(folder / NAME), check.record.compared
    if len(sides) != 2:
        return
    first, second = ({name: held.files.get(name) for name in side.sources} for side in sides)
    second |= {name: text for name, text in held.second.items() if name in second}
    for name in sorted({*first, *second}):
        if held.files.get(name) is not None:
            yield name, first.get(name), second.get(name)


def _held(file: Path) -> _Held:
    """Return what the report folder holds; nothing where it holds nothing that can be read."""
    try:
        return msgspec.convert(json.loads(content(file)), _Held)
    except (OSError, ValueError, RecursionError):
        return _NOTHING_HELD


def _write(file: Path, held: _Held) -> bool:
    """Return whether it could be written; in one step."""
    plain: dict[str, object] = {"files": dict(held.files), "closed": held.closed}
    if held.second:
        plain["second"] = dict(held.second)
    with suppress(OSError):
        with replacing(file) as stream:
            stream.write(json.dumps(plain, indent=1, sort_keys=True).encode())
        return True
    return False


def _notebook(check: Recorded) -> str:
    """Return the notebook that was run; "" where it is none."""
    words = check.record.entry_point.command[1:2]
    return next((word for word in words if word.endswith(NOTEBOOK)), "")


def _script(check: Recorded) -> str:
    """Return the script that was run: what the first process that trains says, else the word of the
    command that is one; "" for a notebook.
    """
    if _notebook(check):
        return ""
    traces = chain.from_iterable(run.traces for run in check.runs[:1])
    programs = map(attrgetter("process.program"), traces)
    words = (word for word in check.record.entry_point.command if word.endswith(".py"))
    return next(filter(None, chain(programs, words)), "")
