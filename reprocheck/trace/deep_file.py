"""One trace file of a deeper level while it is read, line by line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import msgspec

from reprocheck.child.reprocheck_child.shared.iterations import Grouping
from reprocheck.child.reprocheck_child.shared.trainings import Trainings
from reprocheck.files.limits import NO_EVENT, Budget
from reprocheck.model.statements.trace import Unreadable
from reprocheck.trace import events
from reprocheck.trace.deep import (
    UNREADABLE,
    Again,
    Fingerprints,
    Leaf,
    Opened,
    Seen,
    Unrecorded,
)
from reprocheck.trace.lines import is_whole, lines, opened
from reprocheck.trace.numbers import number
from reprocheck.trace.process import MOST_FILES, MOST_SENTENCES, Recorded, take_problem

MOST_FACTS = 500_000
"""Facts kept of one rank. What comes after is left out, and said."""
FACT_BYTES, FREE_FACTS = 100, 20_000
"""Beyond so many facts one is kept for each so many bytes of the trace: real ones are longer, and
take less room here than there.
"""


_Line: TypeAlias = (
    Seen
    | Again
    | Fingerprints
    | Unrecorded
    | events.Process
    | events.Origin
    | events.Left
    | events.Enough
    | events.Broken
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


@dataclass(slots=True)
class DeepFile:
    """One trace file while it is read, and what was taken from it so far."""

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
    """Every line is wanted."""
    return True


def _to_the_end(_: DeepFile) -> bool:
    return False


def read(
    path: Path,
    is_wanted: Callable[[bytes], bool] = everything,
    is_enough: Callable[[DeepFile], bool] = _to_the_end,
) -> DeepFile:
    """Read a trace file.

    is_wanted  whether a line is decoded; one that is not wanted is a fact
    is_enough  asked after each line that is decoded: whether the rest is left out
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
    """Return whether a line holds nothing, as where a machine went down while it was written."""
    return not line.startswith(b"{") and not line.strip(b"\0\r\n ")


def begun(file: DeepFile) -> BinaryIO:
    """Return the file, of which nothing has been read. Raises OSError."""
    file.recorded.name = file.path.stem
    file.most = min(MOST_FACTS, FREE_FACTS + file.path.stat().st_size // FACT_BYTES)
    file.budget.add(file.path)
    return opened(file.path)


def take(file: DeepFile, line: bytes, at: int) -> None:
    """Add what a line says, which stands at this offset."""
    try:
        event = _DECODER.decode(line)
    except UNREADABLE:
        if not _is_event(line):
            file.garbage += 1
            file.budget.spend(1, NO_EVENT, "lines that are no events")
            file.budget.check()
        return
    if type(event) is Seen:
        _keep(file, event, at)
    elif type(event) is Again:
        take_again(file, event, at)
    else:
        _HANDLERS[type(event)](file, event)


def _is_event(line: bytes) -> bool:
    """Return whether a line is an event that is of no interest here, or a fact of a later
    format.
    """
    try:
        return isinstance(_HEAD.decode(line).get("e"), str) and not line.startswith(b'{"e":"seen"')
    except UNREADABLE:
        return False


_HEAD: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


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
    """Add the facts of several places whose values stand in earlier lines."""
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


def _take_update(file: DeepFile, event: events.Update) -> None:
    file.trained = True
    file.trainings.update(event.t, event.o)
    if not file.left:
        file.grouping.update(event.o, event.c)


def _take_left(file: DeepFile, event: events.Left) -> None:
    file.left = True


def _take_process(file: DeepFile, event: events.Process) -> None:
    file.recorded.process = event
    file.recorded.rank, file.recorded.world = event.rank, event.world


def _take_rank(file: DeepFile, event: events.Rank) -> None:
    file.recorded.rank = event.rank


def _take_origin(file: DeepFile, event: events.Origin) -> None:
    file.recorded.identity, file.recorded.task, file.recorded.executor = (
        tuple(event.identity),
        event.task,
        event.executor,
    )


def _take_enough(file: DeepFile, event: events.Enough) -> None:
    file.recorded.stopped_at = event.i


def _take_broken(file: DeepFile, event: events.Broken) -> None:
    if file.recorded.stopped_at is None:
        file.recorded.stopped_at = file.grouping.closed


def _take_exit(file: DeepFile, event: events.Exit) -> None:
    file.ended = file.recorded.stopped_at is None
    file.recorded.over = event.time


def _take_stop(file: DeepFile, event: events.Stop) -> None:
    file.recorded.over = event.time


def _take_fingerprints(file: DeepFile, event: Fingerprints) -> None:
    file.algorithm = file.algorithm or event.hash


def _take_unrecorded(file: DeepFile, event: Unrecorded) -> None:
    if len(file.unrecorded) < MOST_SENTENCES:
        file.unrecorded[event.where, event.why] = None


def _take_open(file: DeepFile, event: events.Open) -> None:
    opened = Opened(path=event.p, mode=event.m, position=len(file.seen), line=event.l)
    file.recorded.keep(file.opened, opened, MOST_FILES)


_HANDLERS: dict[type, Callable[[DeepFile, Any], object]] = {
    Fingerprints: _take_fingerprints,
    Unrecorded: _take_unrecorded,
    events.Process: _take_process,
    events.Origin: _take_origin,
    events.Left: _take_left,
    events.Enough: _take_enough,
    events.Broken: _take_broken,
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
    events.Open: _take_open,
    events.Wrote: lambda file, event: None,
    events.Exit: _take_exit,
    events.Stop: _take_stop,
    events.Problem: lambda file, event: take_problem(file.recorded, event),
}
