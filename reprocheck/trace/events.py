"""The events of a trace file as typed structs, read in chunks.

See `docs/reference/trace-format.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import msgspec

from reprocheck.files.limits import NO_EVENT, Budget, open_limited

CHUNK = 1 << 17
"""Bytes. Larger ones are slower: the garbage collector visits the lists that they decode to."""
FORMAT_VERSION = 1
"""What is read here. Of a newer format the events that it shares with this one are read."""
LONGEST_LINE = 1 << 23
"""Bytes. A longer line is no event and is left out."""


T = TypeVar("T")
Short: TypeAlias = Annotated[list[T], msgspec.Meta(max_length=1_000)]
"""Words and numbers of a process: a recorder writes fewer."""
Roots: TypeAlias = Annotated[list[T], msgspec.Meta(max_length=100_000)]
"""The losses of one backward pass."""
Plain: TypeAlias = str | bool | int | float | None


class Event(msgspec.Struct, tag_field="e", tag=str.lower, gc=False):
    """Hold one line of a trace; keys that this version does not know are ignored."""


class Process(Event):
    v: int = 1
    pid: int = 0
    ppid: int = 0
    time: float = 0.0
    argv: Short[str] = []
    executable: str = ""
    python: str = ""
    name: str = ""
    how: str = "start"
    rank: int | None = None
    world: int | None = None
    root: int = 0
    forks: Short[int] = []


class Origin(Event):
    identity: Short[int] = []
    task: str = ""
    executor: str = ""
    time: float = 0.0


class Framework(Event):
    name: str
    version: str = ""
    hooks: dict[str, str] = {}


class Rank(Event):
    rank: int
    world: int | None = None


class Program(Event):
    f: str = ""


class Environment(Event):
    facts: dict[str, object] = {}


class Optimizer(Event):
    o: int


class Loss(Event):
    v: Roots[float | str]
    d: str | Roots[str] = "unknown"
    k: str = "backward"
    t: str = ""
    x: Roots[str] = []


class Update(Event):
    o: int = 0
    c: bool | None = None
    t: str = ""


class Regular(Event):
    o: int = 0
    k: str = "backward"
    d: str = "unknown"
    s: int = 0


class Irregular(Event):
    n: int | None = None
    u: bool = True


class Series(Event):
    n: str
    v: float | str
    d: str = "unknown"
    i: int = 0
    s: float | None = None
    by: str = ""
    x: str = ""


class Moved(Event):
    pass


class Still(Event):
    pass


class Skip(Event):
    pass


class Open(Event):
    p: str
    m: str = "r"
    l: str = ""  # noqa: E741
    time: float | None = None


class Wrote(Event):
    p: str
    l: str = ""  # noqa: E741


class Input(Event):
    p: str
    s: int = 0
    t: float = 0.0
    h: str = ""
    l: str = ""  # noqa: E741
    i: bool = False


class Variable(Event):
    p: str
    v: str = ""
    l: str = ""  # noqa: E741


class Note(Event):
    code: str = ""
    text: str = ""


class Caveat(Event):
    code: str = ""
    text: str = ""


LOG_LOSS = "log_loss"
"""Where a problem arose: what the script gave it is no number."""


class Problem(Event):
    where: str = ""
    error: str = ""


class Control(Event):
    c: str
    w: str
    n: int = 1
    v: object = None
    l: str = ""  # noqa: E741
    s: str = ""
    set: bool = False
    d: bool = False


class Override(Event):
    c: str
    w: str
    old: Plain = None
    new: Plain = None
    l: str = ""  # noqa: E741


class Conflict(Event):
    c: str
    w: str
    v: Plain = None
    wanted: Plain = None
    l: str = ""  # noqa: E741


class Unavailable(Event):
    c: str
    why: str = ""


class Patched(Event):
    p: str


class Seeding(Event):
    n: int
    w: str = ""
    v: str = ""
    l: str = ""  # noqa: E741
    i: str = ""
    s: str = ""
    g: Short[str] = []


class Drawn(Event):
    n: int
    i: int = 0
    u: bool = False


class Deep(Event):
    level: str = ""


class Left(Event):
    i: int
    why: str = ""


class Sample(Event):
    """Hold the clock and the memory after an iteration: now, at most, at most of the device."""

    i: int
    t: float | None = None
    m: int | None = None
    p: int | None = None
    d: int | None = None


class Checkpoint(Event):
    """Describe a checkpoint of a continued run, which `reprocheck.resume` reads."""

    i: int = 0
    at: list[str] = []
    by: str = ""
    l: str = ""  # noqa: E741
    p: list[str] = []
    o: list[str] = []
    t: str = ""
    s: int = 0


class Unkept(Event):
    """Name files that a continued run wrote between two iterations and that are no checkpoint."""

    p: list[str] = []
    removed: list[str] = []
    temporary: list[str] = []
    passed: int = 0
    epochs: int = 0


class Given(Event):
    """Hold a fact for mirrors: its kind, and its values by their names in `model.mirrors`."""

    k: str = ""
    v: dict[str, object] = {}


class Outside(Event):
    """Name a checkpoint that a continued run was about to write where no snapshot is taken."""


class Enough(Event):
    i: int


class Broken(Event):
    """Mark that earlier lines could not be written: the iteration of later ones is unknown."""

    why: str = ""


class Stop(Event):
    i: int
    time: float | None = None


class Exit(Event):
    error: str = ""
    l: str = ""  # noqa: E741
    time: float | None = None


class Again(Event):
    """As the four below, a fact of the deeper levels, which `trace.deep` and `trace.reached` read.

    They are decoded here, too: a line of no known kind costs ten times as much.
    """


class Fingerprints(Event):
    pass


class Ran(Event):
    pass


class Seen(Event):
    pass


class Unrecorded(Event):
    pass


OF_DEEPER_LEVELS: tuple[type[Event], ...] = (Again, Fingerprints, Ran, Seen, Unrecorded)

OfTraining: TypeAlias = (
    Optimizer | Loss | Update | Regular | Irregular | Series | Moved | Still | Skip
)
OfProcess: TypeAlias = Process | Variable | Origin | Framework | Rank | Program | Environment
OfRecorder: TypeAlias = (
    Note | Caveat | Problem | Deep | Left | Given | Sample | Enough | Broken | Stop | Exit
)
OfFiles: TypeAlias = Open | Wrote | Input | Checkpoint | Unkept | Outside
OfControls: TypeAlias = Control | Override | Conflict | Unavailable | Patched | Seeding | Drawn
OfDeeperLevels: TypeAlias = Again | Fingerprints | Ran | Seen | Unrecorded
AnyEvent: TypeAlias = OfTraining | OfProcess | OfRecorder | OfFiles | OfControls | OfDeeperLevels
_KNOWN = frozenset(str(kind.__struct_config__.tag) for kind in Event.__subclasses__())
_DECODER: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_HEAD: msgspec.json.Decoder[dict[str, object]] = msgspec.json.Decoder(dict[str, object])
_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)


@dataclass(slots=True)
class Reading:
    """Hold what is known of a trace file after reading.

    cut      whether the file ends in the middle of a line
    garbage  number of lines that are no events
    unknown  number of events of each kind that this version does not know
    """

    cut: bool = False
    garbage: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)


def read(path: Path, reading: Reading) -> Iterator[list[AnyEvent]]:
    """Yield the events of a trace file in order, a chunk at a time.

    Lines that are no known events are left out. Raises OSError, and TooMuchError if the content
    takes more memory than the size of the file explains.
    """
    reading.budget.add(path)
    rest: list[bytes] = []
    waiting = 0  # bytes of the line under way
    with open_limited(path) as file:
        while chunk := file.read(CHUNK):
            # zero bytes: allocated by a process that was killed, and not written
            chunk = chunk.rstrip(b"\0")
            end = chunk.rfind(b"\n") + 1
            if not end:
                waiting += len(chunk)
                if waiting <= LONGEST_LINE:
                    rest.append(chunk)
                continue
            # what waits for its end, and what has come with it
            complete = b"".join((*rest, chunk[:end]))
            if waiting > LONGEST_LINE:
                reading.garbage += 1
                complete = chunk[chunk.index(b"\n") + 1 : end]
            rest, waiting = [chunk[end:]], len(chunk) - end
            if complete:
                yield _decode(complete, reading)
                reading.budget.check()
    if waiting > LONGEST_LINE:
        reading.garbage += 1
        return
    last = b"".join(rest)
    if last.strip():
        reading.cut = True
        yield _decode(last, Reading(budget=reading.budget))


def _decode(chunk: bytes, reading: Reading) -> list[AnyEvent]:
    try:
        return _DECODER.decode_lines(chunk)
    except _ERRORS:
        return list(_decode_each(chunk, reading))


def _decode_each(chunk: bytes, reading: Reading) -> Iterator[AnyEvent]:
    for line in chunk.split(b"\n"):
        if not line.strip():
            continue
        try:
            yield _DECODER.decode(line)
        except _ERRORS:
            reading.budget.spend(1, NO_EVENT, "lines that are no events")
            if reading.budget.excess:
                return
            try:
                kind = _HEAD.decode(line).get("e")
            except _ERRORS:
                kind = None
            if isinstance(kind, str) and kind and kind not in _KNOWN:
                reading.unknown[kind] = reading.unknown.get(kind, 0) + 1
            else:
                reading.garbage += 1
