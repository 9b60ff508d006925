"""Follow a run while it is under way.

Its trace files and its logs are each read once as they grow.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

from reprocheck.child.reprocheck_child.shared.regular_stretch import WIDTH, stored
from reprocheck.files.limits import open_regular
from reprocheck.launch.workdir.file_events import FileEvents

MOST_AT_ONCE = 16 << 20
MOST_OPEN = 32
"""Traces that stay open, so that they can be read on where the script removes their folder."""

_AT_ONCE = 1 << 16
_LOSS, _OPTIMIZER = b'{"e":"loss"', b'{"e":"optimizer"'
_PROCESS, _NO_RANK = b'{"e":"process"', b'"rank":null'
_COUNTING = (b'{"e":"update"', b'{"e":"regular"', b'{"e":"stop"', b'{"e":"enough"')

Output = Callable[[str, bytes], None]
"""Takes the name of a stream (`stdout`, `stderr`) and what a run wrote to it."""


class TraceTail:
    """The newest facts of a trace folder.

    `iteration` last recorded, `loss`, and which processes stopped themselves.

    Processes go by the name of their file, `PID-NANOSECONDS.jsonl`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.iteration = 0
        self._rank_of: dict[str, int] = {}
        self._last_loss: dict[str, float | None] = {}
        self.training: set[str] = set()
        self.stopped: set[str] = set()
        self.enough: set[str] = set()  # those that go on and record nothing further
        # those of which a launcher said a rank, and those that trained
        self.ranks: set[str] = set()
        self.ended: set[str] = set()  # those that are known to be gone
        self.files = FileEvents()
        self._open: dict[str, BinaryIO] = {}
        # whether the process was alive when its file was first seen
        self._seen: dict[str, bool] = {}
        self._late = False  # whether a process began after one had stopped
        self._offsets: dict[str, int] = {}
        self._cut: dict[str, bytes] = {}
        self._losses: dict[str, int] = {}
        self._closed: dict[str, int] = {}
        self._with_optimizer: set[str] = set()
        # losses in the `.losses` file, and closed iterations, when the last one began
        self._stretches: dict[str, tuple[int, int]] = {}

    @property
    def loss(self) -> float | None:
        """Return the last recorded loss.

        Of several ranks that of the first, so that two runs show the same rank.
        """
        if not self._last_loss:
            return None
        # those without a rank come after all others
        return self._last_loss[
            min(self._last_loss, key=lambda name: self._rank_of.get(name, sys.maxsize))
        ]

    @property
    def all_recorded(self) -> bool:
        """Return whether nothing more will be recorded.

        The processes that train have stopped, or go on unrecorded.
        """
        return bool(self.training) and self.training <= self.stopped | self.ended | self.enough

    @property
    def all_stopped(self) -> bool:
        """Return whether a process has stopped itself, and so has every other that trains.

        Every other that recorded a loss or an update and was not gone before.
        """
        return bool(self.stopped) and self.training <= self.stopped | self.ended

    @property
    def all_gone(self) -> bool:
        """Return whether all processes that trained have stopped and were seen to end.

        None has begun since the first stop.

        False where their process ids mean nothing here (a container), and where a second stage may
        be about to train.
        """
        stopped = self.training | self.stopped
        return (
            self.all_stopped
            and not self._late
            and all(self._seen[name] and not _alive(name) for name in stopped)
        )

    def look(self) -> bool:
        """Read new lines; return True if there were any."""
        grown = False
        sizes = {name: os.fstat(file.fileno()).st_size for name, file in self._open.items()}
        try:
            with os.scandir(self.folder) as entries:
                sizes.update(
                    (entry.name, entry.stat().st_size)
                    for entry in entries
                    if entry.name.endswith(".jsonl")
                )
        except OSError:
            pass
        new = [name for name in sizes if name not in self._seen]
        self._seen.update((name, _alive(name)) for name in new)
        for name, size in sizes.items():
            while size > self._offsets.get(name, 0):
                before = self._offsets.get(name, 0)
                self._read(name)
                if self._offsets.get(name, 0) == before:
                    break
                grown = True
        for name in self._stretches:
            grown = self._read_stretch(name) or grown
        self._late = self._late or bool(new and self.stopped)
        return grown

    def close(self) -> None:
        """Close the traces."""
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _next_part(self, name: str) -> bytes:
        """Read the next part; return nothing if the trace cannot be read."""
        file = self._open.get(name)
        try:
            if file is None:
                file = open_regular(self.folder / name, buffer=0)
        except OSError:
            return b""
        if len(self._open) < MOST_OPEN:
            self._open[name] = file
        data = os.pread(file.fileno(), MOST_AT_ONCE, self._offsets.get(name, 0))
        if name not in self._open:
            file.close()
        # behind zero bytes nothing was written yet
        return data.partition(b"\0")[0]

    def _read(self, name: str) -> None:
        data = self._next_part(name)
        if not data:
            return
        self._offsets[name] = self._offsets.get(name, 0) + len(data)
        *lines, self._cut[name] = (self._cut.get(name, b"") + data).split(b"\n")
        self.files.take(lines, self.folder / name)
        losses = [line for line in lines if line.startswith(_LOSS)]
        self._losses[name] = self._losses.get(name, 0) + len(losses)
        self._count(name, lines)
        if losses or name in self._closed:
            self.training.add(name)
        # whether the first line says which rank of a launcher it is
        has_rank = any(line.startswith(_PROCESS) and _NO_RANK not in line for line in lines[:1])
        if has_rank or name in self.training:
            self.ranks.add(name)
        for event_of_rank in _events(
            line for line in lines if line.startswith((_PROCESS, b'{"e":"rank"'))
        ):
            rank = event_of_rank.get("rank")
            if isinstance(rank, int):
                self._rank_of[name] = rank
        if any(line.startswith(_OPTIMIZER) for line in lines):
            self._with_optimizer.add(name)
        for event in _events(losses[-1:]):
            self._last_loss[name] = _number(event.get("v"))
        if name in self._closed:
            self.iteration = max(self.iteration, self._closed[name])
        elif name not in self._with_optimizer:
            self.iteration = max(self.iteration, self._losses[name])

    def _count(self, name: str, lines: list[bytes]) -> None:
        """Take note of closed iterations: an update says how many."""
        for event in _events(line for line in lines if line.startswith(_COUNTING)):
            closed = event.get("i")
            if isinstance(closed, int):
                self._closed[name] = closed
            if event["e"] == "regular":
                start = event.get("s")
                if not isinstance(start, int):
                    start = 0
                self._stretches[name] = (start, self._closed.get(name, 0))
            if event["e"] == "stop":
                self.stopped.add(name)
            if event["e"] == "enough":
                self.enough.add(name)

    def _read_stretch(self, name: str) -> bool:
        """Return the losses of a regular stretch: each is one more closed iteration."""
        start, closed = self._stretches[name]
        grown = False
        try:
            with open_regular((self.folder / name).with_suffix(".losses")) as file:
                file.seek(start * WIDTH)
                while data := file.read(_AT_ONCE):
                    losses = stored(data)
                    if losses:
                        self._last_loss[name] = losses[-1]
                        start, closed, grown = start + len(losses), closed + len(losses), True
                    if len(losses) * WIDTH < _AT_ONCE:
                        break
        except OSError:
            return False
        self._stretches[name] = (start, closed)
        self._closed[name] = max(closed, self._closed.get(name, 0))
        self.iteration = max(self.iteration, self._closed[name])
        return grown


class LogTail:
    """Passes on the output that a run writes to its two logs."""

    def __init__(self, stdout: Path, stderr: Path, output: Output) -> None:
        self._files = {"stdout": stdout, "stderr": stderr}
        self._offsets = {"stdout": 0, "stderr": 0}
        self._output = output

    def look(self) -> None:
        """Pass on new output."""
        for stream, path in self._files.items():
            try:
                with open_regular(path) as file:
                    file.seek(self._offsets[stream])
                    while data := file.read(1 << 20):
                        self._offsets[stream] += len(data)
                        self._output(stream, data)
            except OSError:  # the script removed or replaced it
                continue


def _alive(name: str) -> bool:
    """Return whether the process of a trace file is there and not a zombie."""
    try:
        state = (
            Path(f"/proc/{int(name.partition('-')[0])}/stat")
            .read_bytes()
            .rpartition(b")")[2]
            .split()[0]
        )
    except (OSError, ValueError, IndexError):
        return False
    return state not in (b"Z", b"X")


def _events(lines: Iterable[bytes]) -> list[dict[str, object]]:
    events = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def _number(value: Any) -> float | None:
    if not isinstance(value, list):
        value = [value]
    try:
        return math.fsum(map(float, value))
    except (TypeError, ValueError, OverflowError):
        return None
