"""One trace file -> what its process recorded: losses in columns, iterations, and everything else that it said of itself."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import Any

from reprocheck.child.reprocheck_child.iterations import COUNTED, COUNTED_FROM_HERE, IGNORED, Grouping
from reprocheck.child.reprocheck_child.regular import stored
from reprocheck.model import Checked, LossSeries
from reprocheck.trace import events
from reprocheck.trace.controls import AnyControlEvent
from reprocheck.trace.events import Loss, Update

NODE = "node"
"""Before the number of a machine, in front of the names of its traces."""
_MOST_DTYPES = 255


@dataclass(slots=True)
class Recorded:
    """The content of one trace file. `values` and `dtype_of` are columns, one entry a loss that counts."""

    process: events.Process
    name: str = ""
    """The name of the file without its suffix."""
    grouping: Grouping = field(default_factory=Grouping)
    values: array[float] = field(default_factory=lambda: array("d"))
    dtype_of: array[int] = field(default_factory=lambda: array("B"))
    dtypes: dict[str, int] = field(default_factory=dict)
    rank: int | None = None
    world: int | None = None
    frameworks: dict[str, str] = field(default_factory=dict)
    environment: dict[str, object] = field(default_factory=dict)
    opened: list[events.Open] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    controls: list[AnyControlEvent] = field(default_factory=list)
    stopped_at: int | None = None
    ended: bool = False
    error: str = ""
    cut: bool = False
    column: array[float] = field(default_factory=lambda: array("d"))
    """The losses of all regular stretches."""
    stretch: events.Regular | None = None
    """The regular stretch under way."""

    @property
    def node(self) -> int | None:
        """The machine that it ran on, where the run was put together from those of several: `nodeN-PID-NANOSECONDS`."""
        first = self.name.partition("-")[0].removeprefix(NODE)
        return int(first) if self.name.startswith(NODE) and first.isdecimal() else None

    @property
    def trained(self) -> bool:
        """Whether it had a loss or an update."""
        return bool(self.grouping.losses or self.grouping.ends)


def read_process(path: Path) -> Recorded:
    """Read one trace file, whatever state it is in: what cannot be read becomes a problem."""
    recorded = Recorded(process=events.Process(), name=path.stem)
    reading = events.Reading()
    try:
        column = path.with_suffix(".losses")
        recorded.column = stored(column.read_bytes()) if column.exists() else array("d")
        for chunk in events.read(path, reading):
            _take(recorded, chunk)
        _end_stretch(recorded, events.Irregular(u=False))
    except OSError as error:
        recorded.problems.append(f"a trace could not be read: {error.strerror or error}")
    recorded.cut = reading.cut
    if reading.garbage:
        recorded.problems.append(f"{reading.garbage} line(s) of a trace are no events and were left out")
    recorded.problems += unknown(recorded.process.v, reading.unknown)
    recorded.grouping.finish()
    return recorded


def unknown(version: int, kinds: Mapping[str, int]) -> list[str]:
    """What is to be said of a trace in a newer format, and of events that are not known here."""
    said = []
    if version > events.FORMAT_VERSION:
        said.append(
            f"a trace was written by a newer reprocheck (format {version}; this one reads {events.FORMAT_VERSION}), so parts of it may be "
            "missing here; upgrade reprocheck"
        )
    names = sorted(set(kinds) - events.OF_DEEPER_LEVELS)
    if names:
        count = sum(kinds[name] for name in names)
        said.append(f"{count} event(s) of a trace are of kinds that are not known here and were left out: {', '.join(names[:5])[:200]}")
    return said


def loss_series(recorded: Recorded, stopped_at: int | None) -> LossSeries:
    """The losses of the recorded iterations, up to the early stop; those of several threads in one iteration are sorted."""
    grouping = recorded.grouping
    ends = grouping.ends
    if stopped_at is not None and stopped_at < len(ends):
        ends = ends[:stopped_at]
    count = ends[-1] if ends else 0
    values, dtype_of = recorded.values[:count], recorded.dtype_of[:count]
    for iteration in grouping.unordered:
        if iteration <= len(ends):
            _sort(values, dtype_of, *_bounds(grouping, ends, iteration))
    return LossSeries(values=values, dtype_of=dtype_of, dtypes=tuple(recorded.dtypes), ends=ends)


def checked(grouping: Grouping, ends: array[int]) -> tuple[Checked | None, Checked | None]:
    """The ranges of the forward and of the backward check within the iterations that `ends` delimits."""
    forward = backward = None
    if ends:
        end = ends[0] if grouping.first_end is None else min(grouping.first_end, ends[0])
        forward = Checked(kind="forward", iteration=1, start=0, end=end) if end else None
    moved_at, moved_in = grouping.moved_at, grouping.moved_in
    if moved_at is not None and moved_in is not None and moved_in < len(ends) and moved_at < ends[moved_in]:
        backward = Checked(kind="backward", iteration=moved_in + 1, start=moved_at, end=ends[moved_in])
    return forward, backward


def _take(recorded: Recorded, chunk: list[events.AnyEvent]) -> None:
    """Feed events in order. Losses and updates are the bulk and are dealt with here."""
    grouping, values, dtype_of = recorded.grouping, recorded.values, recorded.dtype_of
    count_loss, update = grouping.loss, grouping.update
    usual, code = next(iter(recorded.dtypes.items()), ("", 0))
    for event in chunk:
        if type(event) is Loss:
            losses = event.v
            answer = count_loss(len(losses), event.k, event.t)
            if answer == COUNTED_FROM_HERE:
                del values[:], dtype_of[:]
            if answer == IGNORED:
                continue
            if event.d == usual and len(losses) == 1 and type(losses[0]) is float:
                values.append(losses[0])
                dtype_of.append(code)
            else:
                _append(recorded, losses, event.d)
        elif type(event) is Update:
            update(event.o, event.c)
        else:
            _HANDLERS[type(event)](recorded, event)


def _begin_stretch(recorded: Recorded, event: events.Regular) -> None:
    recorded.stretch = event


def _end_stretch(recorded: Recorded, event: events.Irregular) -> None:
    """Feed the losses of a regular stretch; between two of them stands an update that is not written."""
    stretch, recorded.stretch = recorded.stretch, None
    if stretch is None:
        return
    losses = recorded.column[max(stretch.s, 0) :][: event.n]
    if event.n is not None and len(losses) < event.n:
        recorded.problems.append(f"{event.n - len(losses)} losses of a trace are missing")
    count_loss, update = recorded.grouping.loss, recorded.grouping.update
    for number, value in enumerate(losses):
        if number:
            update(stretch.o, None)
        if count_loss(1, stretch.k) == COUNTED:
            recorded.values.append(value)
            recorded.dtype_of.append(_code(recorded.dtypes, stretch.d))
    if losses and event.u:
        update(stretch.o, None)


def _append(recorded: Recorded, losses: list[float | str], dtype: str | list[str]) -> None:
    names = [dtype] * len(losses) if isinstance(dtype, str) else [*dtype, *["unknown"] * len(losses)]
    for value, name in zip(losses, names, strict=False):
        recorded.values.append(_number(value))
        recorded.dtype_of.append(_code(recorded.dtypes, name))


def _code(dtypes: dict[str, int], name: str) -> int:
    if name not in dtypes and len(dtypes) >= _MOST_DTYPES:
        name = "unknown"
    return dtypes.setdefault(name, min(len(dtypes), _MOST_DTYPES))


def _number(value: float | str) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan")


def _bounds(grouping: Grouping, ends: array[int], iteration: int) -> list[int]:
    """Where the losses of an iteration may be sorted: not across its updates that delimit a check."""
    start, end = ends[iteration - 2] if iteration > 1 else 0, ends[iteration - 1]
    cuts = {cut for cut in (grouping.first_end, grouping.moved_at) if cut is not None and start < cut < end}
    return [start, *sorted(cuts), end]


def _sort(values: array[float], dtype_of: array[int], *bounds: int) -> None:
    for start, end in pairwise(bounds):
        pairs = sorted(zip(values[start:end], dtype_of[start:end], strict=True), key=lambda pair: (isnan(pair[0]), pair))
        values[start:end] = array("d", (value for value, _ in pairs))
        dtype_of[start:end] = array("B", (code for _, code in pairs))


def _take_process(recorded: Recorded, event: events.Process) -> None:
    recorded.process = event
    recorded.rank, recorded.world = event.rank, event.world


def _take_framework(recorded: Recorded, event: events.Framework) -> None:
    recorded.frameworks[event.name] = event.version
    recorded.problems += [f"{event.name} {event.version}: {hook}: {state}" for hook, state in event.hooks.items() if state != "ok"]


def _take_rank(recorded: Recorded, event: events.Rank) -> None:
    recorded.rank, recorded.world = event.rank, event.world if event.world is not None else recorded.world


def _take_stop(recorded: Recorded, event: events.Stop) -> None:
    recorded.ended = True
    if recorded.stopped_at is None and event.i >= 0:
        recorded.stopped_at = event.i


def _take_exit(recorded: Recorded, event: events.Exit) -> None:
    recorded.ended, recorded.error = True, event.error


_HANDLERS: dict[type, Callable[[Recorded, Any], object]] = {
    events.Process: _take_process,
    events.Framework: _take_framework,
    events.Rank: _take_rank,
    events.Environment: lambda recorded, event: recorded.environment.update(event.facts),
    events.Optimizer: lambda recorded, event: recorded.grouping.optimizer(event.o),
    events.Moved: lambda recorded, _: recorded.grouping.moved(),
    events.Still: lambda recorded, _: recorded.grouping.still(),
    events.Skip: lambda recorded, _: recorded.grouping.skip(),
    events.Open: lambda recorded, event: recorded.opened.append(event),
    events.Note: lambda recorded, event: recorded.notes.append(event.text or event.code),
    events.Caveat: lambda recorded, event: recorded.caveats.append(event.text or event.code),
    events.Problem: lambda recorded, event: recorded.problems.append(f"{event.where}: {event.error}" if event.where else event.error),
    **dict.fromkeys(
        (events.Control, events.Override, events.Conflict, events.Unavailable), lambda recorded, event: recorded.controls.append(event)
    ),
    events.Regular: _begin_stretch,
    events.Irregular: _end_stretch,
    events.Stop: _take_stop,
    events.Exit: _take_exit,
}
