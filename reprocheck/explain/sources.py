"""The user's own files as they were at the time of the run: read once, and kept in the report folder for every later drawing.

A file that changed after the check began is not read: its lines may not be those that ran.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from reprocheck.atomic import replacing
from reprocheck.child.reprocheck_child.masking import identity, mask
from reprocheck.model import Check, SourceLine

NAME = "sources.json"
MOST_BYTES, MOST_TOGETHER = 400_000, 4_000_000
"""Sizes above which a file, or all that are kept, are left out."""
MOST_OF_NOTEBOOK = 32 << 20
"""Likewise of a notebook, most of which is pictures."""
NOTEBOOK, CELL = ".ipynb", ":cell "
"""A cell is named `train.ipynb:cell 3`, as the recorder and the scan name it."""
_TEXT = 200


class Sources:
    """Texts of files by the names that a report has for them: relative to the working directory, or with the home folder as `~`.

    `kept` says whether the report folder holds them already; then only files that are named for the first time are looked for. In the
    folder of a comparison none is: names that a recording from elsewhere holds lead to no file of this machine.
    """

    def __init__(self, check: Check, folder: Path) -> None:
        self._file = folder / NAME
        self._started = _seconds(check.record.started)
        self._closed = bool(check.record.compared)
        held = _held(self._file)
        self.kept = held is not None
        self._texts: dict[str, str | None] = dict(held["files"]) if held else {}
        self._changed = not held
        roots = [root for root in (Path.cwd(), folder.resolve().parent.parent) if root.is_dir()]
        script = _script(check)
        at = next((root for root in roots if script and (root / _unmasked(script)).is_file()), roots[0] if roots else Path())
        self._workdir = held["workdir"] if held else mask(str(at), *identity())
        self._roots = [at, *(root for root in roots if root != at)]
        self.notebook = self._of_notebook(check)
        self.script = self.shown(script)
        """The script of the entry point, "" where it is not known, and the notebook that it is, "" where it is none."""

    def shown(self, path: str) -> str:
        """A path as a report names it: relative to the working directory of the check where it lies in it."""
        masked = mask(path, *identity())
        inside = f"{self._workdir.rstrip('/')}/"
        return masked[len(inside) :] if masked.startswith(inside) else masked

    def text(self, name: str) -> str | None:
        """The text of a file; None where it cannot be had as it was."""
        if name not in self._texts:
            self._texts[name] = self._read(name)
            self._changed = True
        return self._texts[name]

    def has(self, name: str) -> bool:
        """Whether there is such a file: of the kept ones where the folder holds them."""
        return self._texts.get(name) is not None if self.kept or self._closed or name in self._texts else self._find(name) is not None

    @property
    def cells(self) -> tuple[str, ...]:
        """Names of the code cells, where the entry point is a notebook."""
        if not self.notebook:
            return ()
        path = None if self._closed else self._find(self.notebook)
        if path is not None:
            return tuple(f"{self.notebook}{CELL}{number}" for number in _cells(path))
        return tuple(name for name in self._texts if name.startswith(self.notebook + CELL))

    def with_text(self, line: SourceLine | None) -> SourceLine | None:
        """A line with its text, where that is known."""
        if line is None or line.text or line.line < 1:
            return line
        lines = (self.text(line.file) or "").splitlines()
        return replace(line, text=lines[line.line - 1].strip()[:_TEXT]) if line.line <= len(lines) else line

    def keep(self) -> None:
        """Write down what was read, in one step. A folder that cannot be written is left as it is."""
        if not self._changed:
            return
        text = json.dumps({"workdir": self._workdir, "files": self._texts}, indent=1, sort_keys=True)
        with suppress(OSError):
            with replacing(self._file) as file:
                file.write(text.encode())
            self._changed = False

    def _of_notebook(self, check: Check) -> str:
        """The name of the notebook that was run; "" where it is none."""
        word = next((word for word in check.record.entry_point.command[1:2] if word.endswith(NOTEBOOK)), "")
        return self.shown(os.path.normpath(Path(self._workdir, word))) if word else ""

    def _read(self, name: str) -> str | None:
        path = None if self._closed else self._find(name)
        if path is None:
            return None
        try:
            text = mask(_cell(path, name) if path.suffix == NOTEBOOK else path.read_text(encoding="utf-8", errors="replace"), *identity())
        except (OSError, LookupError):
            return None
        together = sum(len(other) for other in self._texts.values() if other)
        return text if together + len(text) <= MOST_TOGETHER else None

    def _find(self, name: str) -> Path | None:
        for root in self._roots:
            path = root / _unmasked(name.partition(CELL)[0])
            try:
                state = path.stat()
            except (OSError, ValueError):
                continue
            unchanged = self._started is None or state.st_mtime < self._started + 1
            if unchanged and state.st_size <= {".py": MOST_BYTES, NOTEBOOK: MOST_OF_NOTEBOOK}.get(path.suffix, -1):
                return path
        return None


def _cell(path: Path, name: str) -> str:
    """The code of a cell. LookupError where there is none of that number."""
    return _cells(path)[name.partition(CELL)[2]]


def _cells(path: Path) -> dict[str, str]:
    """The code cells of a notebook by their numbers, in their order; none where it cannot be read."""
    from reprocheck.scan.notebook import code_cells
    from reprocheck.scan.source import UnreadableError, split

    try:
        text, cells = code_cells(path.read_bytes())
    except (UnreadableError, OSError):
        return {}
    lines = split(text)
    ends = [*(cell.first_line - 1 for cell in cells[1:]), len(lines)]
    return {str(cell.number): "\n".join(lines[cell.first_line - 1 : end]) for cell, end in zip(cells, ends, strict=True)}


def numbered(name: str) -> tuple[str, int]:
    """A name as that of a notebook and the number of its cell; 0 for what is no cell."""
    file, _, number = name.partition(CELL)
    return file, int(number) if number.isdecimal() else 0


def _held(file: Path) -> dict[str, Any] | None:
    """What the report folder holds; None where it holds nothing that can be read."""
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        texts = {str(name): text for name, text in held["files"].items() if text is None or isinstance(text, str)}
        return {"workdir": str(held["workdir"]), "files": texts}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _unmasked(name: str) -> str:
    """A path of this machine, of which the trace holds home and user masked."""
    home, user, _ = identity()
    return (f"{home}{name[1:]}" if name.startswith("~/") else name).replace("<user>", user)


def _seconds(started: str) -> float | None:
    try:
        return datetime.fromisoformat(started).timestamp()  # whole seconds
    except ValueError:
        return None


def _script(check: Check) -> str:
    """The script of the entry point; of a module or a launcher, the first argument that a training process had."""
    words = check.record.entry_point.command
    argv = [word for run in check.runs[:1] for trace in run.traces for word in trace.process.argv[:1]]
    return next((word for word in (*argv, *words) if word.endswith(".py")), "")
