"""Reads one trace file of level `module` or `op`, line by line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import msgspec

from reprocheck.child.reprocheck_child.shared.iterations import Grouping
from reprocheck.child.reprocheck_child.shared.trainings import Trainings
from reprocheck.files.limits import NO_EVENT, Budget
from reprocheck.model.mirrors import AnyFact
from reprocheck.model.statements.trace import Unreadable
from reprocheck.trace import events
from reprocheck.trace.deep import UNREADABLE, Again, Fingerprints, Leaf, Opened, Seen, Unrecorded
from reprocheck.trace.lines import is_whole, lines, number, opened
from reprocheck.trace.process import MOST_FILES, MOST_SENTENCES, Recorded, take_problem

MOST_FACTS = 500_000
"""Facts kept of one rank. What comes after is left out, and said."""
FACT_BYTES, FREE_FACTS = 100, 20_000
"""Beyond so many facts one is kept for each so many bytes of the trace: real ones are longer, and
take less room here than there.
"""


_Fact: TypeAlias = Seen | Again | Fingerprints | Unrecorded
_OfRun: TypeAlias = events.OfTraining | events.OfProcess | events.OfRecorder | events.OfFiles
_Line: TypeAlias = _Fact | _OfRun | AnyFact
_DECODER: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)
_HEAD: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


@dataclass(slots=True)
class DeepFile:
    """Hold a trace file of level `module` or `op` while it is read, and the facts taken so far."""

    path: Path
    recorded: Recorded = field(default_factory=lambda: Recorded(process=events.Process()))
    grouping: Grouping = field(default_factory=Grouping)
    trainings: Trainings = field(default_factory=Trainings)
    seen: list[Seen] = field(default_factory=list)
    gradients: dict[str, Seen] = field(default_factory=dict)
    """Of each place, the last fact `gradient`."""
    opened: list[Opened] = field(default_factory=list)
    unrecorded: dict[tuple[str, str], None] = field(default_factory=dict)
    algorithm: str = ""
    trained: bool = False
    left: bool = False
    """Whether the deeper level was left: what follows are losses alone."""
    ended: bool = False
    skipped: bool = False
    """Whether facts were left out that were not wanted."""
    garbage: int = 0
    left_out: int = 0
    most: int = MOST_FACTS
    """Facts that are kept of it."""
    budget: Budget = field(default_factory=Budget)


def everything(_: bytes) -> bool:
    """Return True: decode every line."""
    return True


def to_the_end(_: DeepFile) -> bool:
    """Return False: read the file to its end."""
    return False


def read(
    path: Path,
    is_wanted: Callable[[bytes], bool] = everything,
    is_enough: Callable[[DeepFile], bool] = to_the_end,
) -> DeepFile:
    """Read a trace file.

    is_wanted  returns whether a line is to be decoded; lines that are not decoded must be facts
    is_enough  called after each decoded line; returns whether reading stops there
    """
    file = DeepFile(path=path)
    try:
        with begun(file) as stream:
            at = 0
            for line in lines(stream):
                if not is_wanted(line):
                    file.skipped = True
                elif is_whole(line) and not is_blank(line):
                    take(file, line, at)
                    if is_enough(file):
                        break
                at += len(line)
    except OSError as error:
        file.recorded.problems.append(Unreadable(error=str(error.strerror or error)))
    return file


def is_blank(line: bytes) -> bool:
    """Return whether a line is empty or zero bytes, as a crash of the machine can leave it."""
    return not line.startswith(b"{") and not line.strip(b"\0\r\n ")


def begun(file: DeepFile) -> BinaryIO:
    """Open the trace file for reading, and set the limits that depend on its size.

    Raises OSError.
    """
    file.recorded.name = file.path.stem
    file.most = min(MOST_FACTS, FREE_FACTS + file.path.stat().st_size // FACT_BYTES)
    file.budget.add(file.path)
    return opened(file.path)


def take(file: DeepFile, line: bytes, at: int) -> None:
    """Decode a line and add its content to `file`.

    at  offset of the line in the trace file, in bytes
    """
    try:
        event = _DECODER.decode(line)
    except UNREADABLE:
        try:
            kind = _HEAD.decode(line).get("e")
        except UNREADABLE:
            kind = None
        # else of no interest here, or a fact of a later format
        if not isinstance(kind, str) or line.startswith(b'{"e":"seen"'):
            file.garbage += 1
            file.budget.spend(1, NO_EVENT, "lines that are no events")
            file.budget.check()
        return
    if type(event) is Seen:
        _keep(file, event, at)
    elif type(event) is Again:
        take_again(file, event, at)
    else:
        _take_other(file, event)


def _keep(file: DeepFile, seen: Seen, at: int) -> None:
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


def take_again(file: DeepFile, event: Again, at: int) -> None:
    """Add facts of several places whose values stand in earlier lines.

    at  offset of the line of `event` in the trace file, in bytes
    """
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


def _take_other(file: DeepFile, event: _Line) -> None:
    """Add an event that is no fact."""
    recorded, grouping = file.recorded, file.grouping
    match event:
        case events.Loss():
            _take_loss(file, event)
        case events.Update():
            file.trained = True
            file.trainings.update(event.t, event.o)
            if not file.left:
                grouping.update(event.o, event.c)
        case events.Moved():
            grouping.moved()
        case events.Still():
            grouping.still()
        case events.Skip():
            grouping.skip()
        case events.Optimizer():
            grouping.optimizer(event.o)
        case events.Open():
            file_opened = Opened(path=event.p, mode=event.m, position=len(file.seen), line=event.l)
            recorded.keep(file.opened, file_opened, MOST_FILES)
        case Fingerprints():
            file.algorithm = file.algorithm or event.hash
        case Unrecorded():
            if len(file.unrecorded) < MOST_SENTENCES:
                file.unrecorded[event.where, event.why] = None
        case events.Process():
            recorded.process, recorded.rank, recorded.world = event, event.rank, event.world
        case events.Rank():
            recorded.rank = event.rank
        case events.Origin():
            recorded.identity, recorded.task = tuple(event.identity), event.task
            recorded.executor = event.executor
        case events.Framework():
            recorded.frameworks[event.name] = event.version
        case events.Problem():
            take_problem(recorded, event)
        case events.Left():
            file.left = True
        case events.Enough():
            recorded.stopped_at = event.i
        case events.Broken():
            if recorded.stopped_at is None:
                recorded.stopped_at = grouping.closed
        case events.Exit():
            file.ended = recorded.stopped_at is None
            recorded.over = event.time
        case events.Stop():
            recorded.over = event.time


def _take_loss(file: DeepFile, event: events.Loss) -> None:
    file.trained = True
    file.trainings.loss(event.t)
    if file.left:
        return
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
