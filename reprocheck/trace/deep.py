"""The facts of the deeper levels, read back rank by rank: `read_deep(folder, run)`.

Sketches take most of the room in a trace and are asked for at a few places only. They stay in the file; `sketched` fetches them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from reprocheck.child.reprocheck_child.iterations import Grouping
from reprocheck.model import RunRecord
from reprocheck.trace import events, ranks
from reprocheck.trace.process import Recorded, unknown

MOST_FACTS = 500_000
"""Facts kept of one rank. What comes after is left out, and said."""


class Leaf(
    msgspec.Struct, frozen=True, gc=False, rename={"hash": "h", "dtype": "d", "shape": "s", "norm": "z", "value": "v", "device": "dev"}
):
    """A tensor by its fingerprint, or a plain value: one leaf of what a module took or returned."""

    hash: str = ""
    dtype: str = ""
    shape: tuple[int, ...] | None = None
    norm: float | str | None = None
    value: Any = msgspec.UNSET
    """The value itself, or the elements of a small tensor."""
    algorithm: str = msgspec.field(default="", name="a")
    device: str = ""

    @property
    def known(self) -> bool:
        """Whether there is anything to compare."""
        return bool(self.hash) or self.value is not msgspec.UNSET


class Sketched(Leaf, frozen=True, gc=False):
    """A leaf with its sketch, from which the size of a difference is estimated."""

    sketch: str = msgspec.field(default="", name="k")


Leaves: TypeAlias = list[tuple[str, Leaf]]


class Seen(
    events.Event,
    kw_only=True,
    rename={
        "kind": "r",
        "iteration": "i",
        "place": "p",
        "call": "c",
        "optimizer": "o",
        "class_": "k",
        "inputs": "in",
        "outputs": "out",
        "before": "g",
        "after": "g2",
        "line": "l",
        "buffer": "b",
        "samples": "n",
        "worker": "w",
        "indices": "idx",
        "module": "m",
        "backward": "bw",
    },
):
    """One fact. `docs/reference/trace-format.md` says what each kind of fact holds."""

    kind: str
    iteration: int = 0
    place: str = ""
    call: int = 0
    optimizer: int | None = None
    class_: str = ""
    inputs: Leaves = msgspec.field(default_factory=list)
    outputs: Leaves = msgspec.field(default_factory=list)
    before: dict[str, str] = msgspec.field(default_factory=dict)
    after: dict[str, str] = msgspec.field(default_factory=dict)
    line: str = ""
    buffer: bool = False
    samples: list[str] | None = None
    worker: int | None = None
    indices: list[Any] | None = None
    cut: bool = False
    module: str = ""
    backward: bool = False
    node: str = ""
    subset: str = ""
    held: str = ""
    bag: str = ""
    """Of a data set: hash of the indices that a subset takes, of the samples in memory in their order, and whatever their order."""
    at: int = -1
    """Offset of its line in the trace file."""
    written: int = -1
    """Offset of the line that holds its values, where that is an earlier one."""

    @property
    def drawn(self) -> tuple[str, ...]:
        """The generators that moved meanwhile."""
        return tuple(self.after)


class Again(events.Event, rename={"kind": "r", "iteration": "i", "places": "p", "optimizer": "o"}):
    """Facts of several places, each with the value of the last fact `gradient` of its place."""

    kind: str
    iteration: int = 0
    places: list[str] = msgspec.field(default_factory=list)
    optimizer: int | None = None


class Fingerprints(events.Event):
    """How the fingerprints of a process were made."""

    hash: str = ""
    sketch: str = ""


class Unrecorded(events.Event):
    """Something that could not be recorded."""

    where: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A file that was opened, after `position` facts had been seen."""

    path: str
    mode: str
    position: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DeepTrace:
    """What one rank of a run recorded at a deeper level, in the order of execution. Losses are facts of the kind `loss`."""

    rank: int
    path: Path
    seen: tuple[Seen, ...]
    opened: tuple[Opened, ...] = ()
    unrecorded: tuple[tuple[str, str], ...] = ()
    algorithm: str = ""
    frameworks: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    ended: bool = False
    """True if the process reached its interpreter's exit and was not stopped early."""


_Line: TypeAlias = (
    Seen
    | Again
    | Fingerprints
    | Unrecorded
    | events.Process
    | events.Rank
    | events.Framework
    | events.Optimizer
    | events.Loss
    | events.Update
    | events.Moved
    | events.Still
    | events.Skip
    | events.Open
    | events.Problem
    | events.Exit
)
_DECODER: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)


class _Sides(msgspec.Struct, rename={"inputs": "in", "outputs": "out"}):
    inputs: list[tuple[str, Sketched]] = []
    outputs: list[tuple[str, Sketched]] = []


_SIDES: msgspec.json.Decoder[_Sides] = msgspec.json.Decoder(_Sides)
_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)


@dataclass(slots=True)
class _File:
    """One trace file while it is read."""

    path: Path
    recorded: Recorded = field(default_factory=lambda: Recorded(process=events.Process()))
    grouping: Grouping = field(default_factory=Grouping)
    seen: list[Seen] = field(default_factory=list)
    gradients: dict[str, Seen] = field(default_factory=dict)
    """Of each place, the last fact `gradient`."""
    opened: list[Opened] = field(default_factory=list)
    unrecorded: dict[tuple[str, str], None] = field(default_factory=dict)
    algorithm: str = ""
    trained: bool = False
    ended: bool = False
    garbage: int = 0
    left_out: int = 0


def read_deep(folder: Path, run: RunRecord) -> dict[int, DeepTrace]:
    """Rank -> what it recorded, in rank order. What is missing or damaged is left out, and said in `problems`."""
    try:
        paths = sorted((folder / run.trace).glob("*.jsonl"))
    except OSError:
        return {}
    files = [file for file in map(_read, paths) if file.trained or file.seen]
    trained = [file for file in files if file.trained] or files
    trained.sort(key=lambda file: (file.recorded.node or 0, file.recorded.process.time, file.path.name))
    file_of = {id(file.recorded): file for file in trained}
    return {rank: _trace(rank, file_of[id(recorded)]) for rank, recorded in ranks.assign([file.recorded for file in trained]).items()}


def sketched(trace: DeepTrace, seen: Seen) -> tuple[dict[str, Sketched], dict[str, Sketched]]:
    """The leaves of a fact with their sketches: those that went in and those that came out, by path. Empty where the file is gone."""
    at = seen.at if seen.written < 0 else seen.written
    if at < 0:
        return {}, {}
    try:
        with trace.path.open("rb") as file:
            file.seek(at)
            sides = _SIDES.decode(file.readline(events.LONGEST_LINE))
    except (OSError, *_ERRORS):
        return {}, {}
    return dict(sides.inputs), dict(sides.outputs)


def _trace(rank: int, file: _File) -> DeepTrace:
    problems = [*file.recorded.problems, *unknown(file.recorded.process.v, {})]
    if file.garbage:
        problems.append(f"{file.garbage} line(s) of a trace are no events and were left out")
    if file.left_out:
        problems.append(f"{file.left_out} facts after the first {MOST_FACTS} were left out")
    return DeepTrace(
        rank=rank,
        path=file.path,
        seen=tuple(file.seen),
        opened=tuple(file.opened),
        unrecorded=tuple(file.unrecorded),
        algorithm=file.algorithm,
        frameworks=dict(file.recorded.frameworks),
        problems=tuple(problems),
        ended=file.ended,
    )


# ---------------------------------------------------------------------------------------------------------------- one file


def _read(path: Path) -> _File:
    file = _File(path=path)
    file.recorded.name = path.stem
    try:
        for at, line in _lines(file):
            try:
                event = _DECODER.decode(line)
            except _ERRORS:
                file.garbage += not _is_event(line)
                continue
            if type(event) is Seen:
                _keep(file, event, at)
            elif type(event) is Again:
                _keep_again(file, event, at)
            else:
                _HANDLERS[type(event)](file, event)
    except OSError as error:
        file.recorded.problems.append(f"a trace could not be read: {error.strerror or error}")
    return file


def _lines(file: _File) -> Iterator[tuple[int, bytes]]:
    """Offset and text of each whole line. A last one that lacks its end is left out: it may lack more than that."""
    at = 0
    with file.path.open("rb") as stream:
        while line := stream.readline(events.LONGEST_LINE):
            start, at = at, at + len(line)
            text = line.strip(b"\0\n\r ")
            if not text:
                continue
            if line.endswith(b"\n"):
                yield start, line


def _is_event(line: bytes) -> bool:
    """Whether a line is an event that is of no interest here, or a fact of a later format."""
    try:
        return isinstance(_HEAD.decode(line).get("e"), str) and not line.startswith(b'{"e":"seen"')
    except _ERRORS:
        return False


_HEAD: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


def _keep(file: _File, seen: Seen, at: int) -> None:
    if len(file.seen) >= MOST_FACTS:
        file.left_out += 1
        return
    seen.at = at
    file.seen.append(seen)
    if seen.kind == "gradient":
        file.gradients[seen.place] = seen


def _keep_again(file: _File, event: Again, at: int) -> None:
    for place in event.places:
        known = file.gradients.get(place)
        if known is None:
            file.garbage += 1
            continue
        fact = Seen(kind=event.kind, iteration=event.iteration, place=place, optimizer=event.optimizer, outputs=known.outputs)
        fact.written = known.at
        _keep(file, fact, at)


def _take_loss(file: _File, event: events.Loss) -> None:
    file.trained = True
    iteration = file.grouping.closed + 1
    file.grouping.loss(len(event.v), event.k, event.t)
    dtypes = event.d if isinstance(event.d, list) else [event.d] * len(event.v)
    leaves = [(str(place), Leaf(dtype=dtype, value=value)) for place, (value, dtype) in enumerate(zip(event.v, dtypes, strict=False))]
    _keep(file, Seen(kind="loss", iteration=iteration, place="loss", outputs=leaves), -1)


def _take_update(file: _File, event: events.Update) -> None:
    file.trained = True
    file.grouping.update(event.o, event.c)


def _take_process(file: _File, event: events.Process) -> None:
    file.recorded.process = event
    file.recorded.rank, file.recorded.world = event.rank, event.world


def _take_rank(file: _File, event: events.Rank) -> None:
    file.recorded.rank = event.rank


def _take_exit(file: _File, _: events.Exit) -> None:
    file.ended = True


def _take_fingerprints(file: _File, event: Fingerprints) -> None:
    file.algorithm = file.algorithm or event.hash


_HANDLERS: dict[type, Callable[[_File, Any], object]] = {
    Fingerprints: _take_fingerprints,
    Unrecorded: lambda file, event: file.unrecorded.setdefault((event.where, event.why)),
    events.Process: _take_process,
    events.Rank: _take_rank,
    events.Framework: lambda file, event: file.recorded.frameworks.update({event.name: event.version}),
    events.Optimizer: lambda file, event: file.grouping.optimizer(event.o),
    events.Loss: _take_loss,
    events.Update: _take_update,
    events.Moved: lambda file, _: file.grouping.moved(),
    events.Still: lambda file, _: file.grouping.still(),
    events.Skip: lambda file, _: file.grouping.skip(),
    events.Open: lambda file, event: file.opened.append(Opened(path=event.p, mode=event.m, position=len(file.seen))),
    events.Exit: _take_exit,
    events.Problem: lambda file, event: file.recorded.problems.append(f"{event.where}: {event.error}" if event.where else event.error),
}
