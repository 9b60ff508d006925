"""Read from the traces of some runs what they did to files.

Which ones their processes wrote, and which ones elsewhere they read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from reprocheck.files.limits import open_regular
from reprocheck.model import is_elsewhere

_WROTE, _OPEN = b'{"e":"wrote"', b'{"e":"open"'
COPIES = "overwritten"
"""Folder beside the traces of a run, with copies of what its processes found."""


@dataclass(kw_only=True, slots=True)
class FileEvents:
    """File accesses that traces recorded.

    Paths are relative to the working directory, or absolute and masked for files elsewhere.

    written     paths that were written to, made, moved or removed
    trees       those of `written` that were made, moved or removed with everything below them
    made        files outside of the working directory that did not exist before
    read        files outside of the working directory that were opened for reading
    early       files of the working directory that a process opened for reading before its first
                loss
    copies      triples: a path, the trace of a process that was about to write there, and the copy
                that it made of content that somebody else had written during the run
    names       other names of a file with several (hard links), by its path: a write to one is a
                write to all
    first       pairs: a path of which a process made no copy, and its trace; later contents are the
                work of the run
    """

    written: set[str] = field(default_factory=set)
    trees: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    early: set[str] = field(default_factory=set)
    copies: set[tuple[str, Path, Path]] = field(default_factory=set)
    first: set[tuple[str, Path]] = field(default_factory=set)
    names: dict[str, set[str]] = field(default_factory=dict)

    @property
    def overwritten(self) -> Iterator[tuple[str, Path]]:
        """Yield each path that the run overwrote, with the copy of what others had made."""
        for path, trace, copy in sorted(self.copies):
            writers = {other for written, other in self.first if written == path}
            if not any(other.parent == trace.parent for other in writers - {trace}):
                yield path, copy

    def take(self, lines: Iterable[bytes], trace: Path) -> None:
        """Read lines of a trace; skip lines of other events, and broken ones."""
        trained = False
        for line in lines:
            trained = trained or line.startswith((b'{"e":"loss"', b'{"e":"regular"'))
            if not line.startswith((_WROTE, _OPEN)):
                continue
            try:
                event = json.loads(line)
                path, how = str(event["p"]), str(event["m"])
            except (ValueError, KeyError, TypeError):
                continue
            if event["e"] == "wrote":
                self._wrote(path, how, new=bool(event.get("new")))
                copy = event.get("copy")
                if isinstance(copy, int) and copy > 0:
                    self.copies.add((path, trace, trace.parent / COPIES / str(copy)))
                elif copy is not None:
                    self.first.add((path, trace))
            elif how == "r" and is_elsewhere(path):
                self.read.add(path)
            elif how == "r" and not trained:
                self.early.add(path)

    def add(self, other: FileEvents) -> None:
        """Add the file events of other runs."""
        self.written |= other.written
        self.trees |= other.trees
        self.made |= other.made
        self.read |= other.read
        self.early |= other.early
        self.copies |= other.copies
        self.first |= other.first
        self.know_names(other.names)

    def know_names(self, names: Mapping[str, Iterable[str]]) -> None:
        """Take note of files that have several names."""
        for path, others in names.items():
            self.names.setdefault(path, set()).update(others)

    def wrote(self, path: str) -> bool:
        """Return whether a process of the runs was seen to write a path or a folder around it.

        The path starts from the working directory.
        """
        if path in self.written or not self.written.isdisjoint(self.names.get(path, ())):
            return True
        return bool(self.trees) and any(
            str(parent) in self.trees for parent in PurePosixPath(path).parents
        )

    def _wrote(self, path: str, how: str, *, new: bool) -> None:
        if new and is_elsewhere(path) and path not in self.written:
            self.made.add(path)
        self.written.add(path)
        # such a path takes everything below it along
        if how in ("rename", "tree"):
            self.trees.add(path)


def read_events(traces: Iterable[Path]) -> FileEvents:
    """Return the file events in trace files; skip files that cannot be read."""
    events = FileEvents()
    for trace in traces:
        try:
            with open_regular(trace) as file:
                events.take(file, trace)
        except OSError:
            continue
    return events
