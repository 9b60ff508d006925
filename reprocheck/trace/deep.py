"""The facts of the deeper levels, read back rank by rank: `read_deep(folder, run)`.

Sketches take most of the room in a trace and are asked for at a few places only. They stay in the
file; `sketched` fetches them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from reprocheck.child.reprocheck_child.shared.iterations import Grouping
from reprocheck.files.limits import open_limited
from reprocheck.model import RunRecord
from reprocheck.trace import events, ranks
from reprocheck.trace.process import Recorded, number, unknown

MOST_FACTS = 500_000
"""Facts kept of one rank. What comes after is left out, and said."""
FACT_BYTES, FREE_FACTS = 100, 20_000
"""Beyond so many facts one is kept for each so many bytes of the trace: real ones are longer, and
take less room here than there.
"""


class Leaf(
    msgspec.Struct,
    frozen=True,
    gc=False,
    rename={"hash": "h", "dtype": "d", "shape": "s", "norm": "z", "value": "v", "device": "dev"},
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
        """Whether there is anything to compare: a tensor without elements is equal to every other
        one.
        """
        return 0 not in (self.shape or ()) and (bool(self.hash) or self.value is not msgspec.UNSET)


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
        "seeds": "sn",
        "by_system": "sys",
        "filled": "wl",
        "write": "wn",
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
    """Of a data set: hash of the indices that a subset takes, of the samples in memory in their
    order, and whatever their order.
    """
    seeds: int | None = None
    """Number of a seed among those of its process, from 0; of a weight, how many seeds had been set
    when it was made.
    """
    filled: str = ""
    """Of a weight: the line that wrote to it last after it was made."""
    write: int | None = None
    """The number of that write among those to weights."""
    by: str = ""
    """The package that seeded; empty where the script did."""
    by_system: bool = False
    """Whether a generator was given no number, and took one from the operating system."""
    private: dict[str, str] | str = ""
    """States of the generators that a loader has of its own, by where they hang; of an operator,
    that of the one it was given.
    """
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
    """What one rank of a run recorded at a deeper level, in the order of execution.

    Losses are facts of the kind `loss`.
    """

    rank: int
    path: Path
    seen: tuple[Seen, ...]
    opened: tuple[Opened, ...] = ()
    unrecorded: tuple[tuple[str, str], ...] = ()
    algorithm: str = ""
    frameworks: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    worker_seeds: tuple[Seen, ...] = ()
    """Seeds that the workers of its loaders set by themselves."""
    ended: bool = False
    """True if the process reached its interpreter's exit and was not stopped early."""
    has_rank: bool = True
    """False where it trained without a rank of its own, and `rank` is the number that it was
    given.
    """


_Line: TypeAlias = (
    Seen
    | Again
    | Fingerprints
    | Unrecorded
    | events.Process
    | events.Origin
    | events.Enough
    | events.Rank
    | events.Framework
    | events.Optimizer
    | events.Loss
    | events.Update
    | events.Moved
    | events.Still
    | events.Skip
    | events.Open
    | events.Wrote
    | events.Problem
    | events.Stop
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
    most: int = MOST_FACTS
    """Facts that are kept of it."""


def read_deep(folder: Path, run: RunRecord) -> dict[int, DeepTrace]:
    """Rank -> what it recorded, in rank order.

    What is missing or damaged is left out, and said in `problems`.
    """
    try:
        paths = sorted((folder / run.trace).glob("*.jsonl"))
    except OSError:
        return {}
    files = [_read(path) for path in paths]
    trained = [file for file in files if file.trained] or [file for file in files if file.seen]
    trained.sort(
        key=lambda file: (file.recorded.node or 0, file.recorded.process.time, file.path.name)
    )
    file_of = {id(file.recorded): file for file in trained}
    by_rank = ranks.assign([file.recorded for file in trained], [file.recorded for file in files])
    return {rank: _trace(rank, file_of[id(recorded)], files) for rank, recorded in by_rank.items()}


def sketched(trace: DeepTrace, seen: Seen) -> tuple[dict[str, Sketched], dict[str, Sketched]]:
    """The leaves of a fact with their sketches: those that went in and those that came out, by
    path. Empty where the file is gone.
    """
    at = seen.at if seen.written < 0 else seen.written
    if at < 0:
        return {}, {}
    try:
        with open_limited(trace.path) as file:
            file.seek(at)
            sides = _SIDES.decode(file.readline(events.LONGEST_LINE))
    except (OSError, *_ERRORS):
        return {}, {}
    return dict(sides.inputs), dict(sides.outputs)


def _worker_seeds(file: _File, files: Sequence[_File]) -> tuple[Seen, ...]:
    """What the workers that a process started for its loaders say of the seeds that they set,
    worker by worker.
    """
    pid = file.recorded.process.pid
    workers = [one for one in files if one is not file and one.recorded.process.ppid == pid]
    seeds = [
        seen
        for worker in workers
        for seen in worker.seen
        if seen.kind == "seed" and seen.worker is not None
    ]
    return tuple(sorted(seeds, key=lambda seen: seen.worker or 0))


def _trace(rank: int, file: _File, files: Sequence[_File]) -> DeepTrace:
    problems = [*file.recorded.problems, *unknown(file.recorded.process.v, {})]
    if file.garbage:
        problems.append(f"lines of a trace that are no events were left out: {file.garbage}")
    if file.left_out:
        problems.append(f"{file.left_out} facts after the first {file.most} were left out")
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
        has_rank=not file.recorded.origin,
        worker_seeds=_worker_seeds(file, files),
    )


# ----------------------------------------------------------------------------------------- one file


def _read(path: Path) -> _File:
    file = _File(path=path)
    file.recorded.name = path.stem
    try:
        file.most = min(MOST_FACTS, FREE_FACTS + path.stat().st_size // FACT_BYTES)
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
    """Offset and text of each whole line.

    A last one that lacks its end is left out: it may lack more than that.
    """
    at = 0
    with open_limited(file.path) as stream:
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
    stopped_at = file.recorded.stopped_at
    if stopped_at is not None and seen.iteration > stopped_at:
        return  # the process went on unrecorded: what stands here is of no known iteration
    if len(file.seen) >= file.most:
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
        fact = Seen(
            kind=event.kind,
            iteration=event.iteration,
            place=place,
            optimizer=event.optimizer,
            outputs=known.outputs,
        )
        fact.written = known.at
        _keep(file, fact, at)


def _take_loss(file: _File, event: events.Loss) -> None:
    file.trained = True
    iteration = file.grouping.closed + 1
    file.grouping.loss(len(event.v), event.k, event.t)
    dtypes = event.d if isinstance(event.d, list) else [event.d] * len(event.v)
    if len(file.seen) < file.most:
        file.recorded.values.extend(number(value) for value in event.v)
    leaves = [
        (str(place), Leaf(dtype=dtype, value=value))
        for place, (value, dtype) in enumerate(zip(event.v, dtypes, strict=False))
    ]
    _keep(file, Seen(kind="loss", iteration=iteration, place="loss", outputs=leaves), -1)


def _take_update(file: _File, event: events.Update) -> None:
    file.trained = True
    file.grouping.update(event.o, event.c)


def _take_process(file: _File, event: events.Process) -> None:
    file.recorded.process = event
    file.recorded.rank, file.recorded.world = event.rank, event.world


def _take_rank(file: _File, event: events.Rank) -> None:
    file.recorded.rank = event.rank


def _take_origin(file: _File, event: events.Origin) -> None:
    file.recorded.identity, file.recorded.task, file.recorded.executor = (
        tuple(event.identity),
        event.task,
        event.executor,
    )


def _take_enough(file: _File, event: events.Enough) -> None:
    file.recorded.stopped_at = event.i


def _take_exit(file: _File, event: events.Exit) -> None:
    file.ended = file.recorded.stopped_at is None
    file.recorded.over = event.time


def _take_stop(file: _File, event: events.Stop) -> None:
    file.recorded.over = event.time


def _take_fingerprints(file: _File, event: Fingerprints) -> None:
    file.algorithm = file.algorithm or event.hash


_HANDLERS: dict[type, Callable[[_File, Any], object]] = {
    Fingerprints: _take_fingerprints,
    Unrecorded: lambda file, event: file.unrecorded.setdefault((event.where, event.why)),
    events.Process: _take_process,
    events.Origin: _take_origin,
    events.Enough: _take_enough,
    events.Rank: _take_rank,
    events.Framework: lambda file, event: file.recorded.frameworks.update(
        {event.name: event.version}
    ),
    events.Optimizer: lambda file, event: file.grouping.optimizer(event.o),
    events.Loss: _take_loss,
    events.Update: _take_update,
    events.Moved: lambda file, _: file.grouping.moved(),
    events.Still: lambda file, _: file.grouping.still(),
    events.Skip: lambda file, _: file.grouping.skip(),
    events.Open: lambda file, event: file.opened.append(
        Opened(path=event.p, mode=event.m, position=len(file.seen))
    ),
    events.Wrote: lambda file, event: None,
    events.Exit: _take_exit,
    events.Stop: _take_stop,
    events.Problem: lambda file, event: file.recorded.problems.append(
        f"{event.where}: {event.error}" if event.where else event.error
    ),
}
