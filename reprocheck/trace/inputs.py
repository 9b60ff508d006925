"""The files that a run read: those that it was given, which its processes did not write themselves,
and its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reprocheck.model import FirstRead, InputFile, RunRecord

if TYPE_CHECKING:
    from reprocheck.trace.process import Recorded


def inputs(recorded: Sequence[Recorded], record: RunRecord) -> dict[str, InputFile]:
    """Each file as the first process to open it found it.

    A file that the run made itself is one where it was finished before the process began that
    trains with it, by a program of its own.
    """
    own = {
        *record.files.created,
        *record.files.changed,
        *(path for one in recorded for path in one.wrote),
    }
    trainers = [one for one in recorded if one.trained]
    found: dict[str, InputFile] = {}
    for one in recorded:
        family = list(_family(one, recorded))
        begun = next((member.process.time for member in family if member.trained), 0.0)
        theirs = {path for member in (*trainers, *family) for path in member.wrote}
        for event in one.inputs:
            made = event.p in own
            if not made or (event.t < begun and event.p not in theirs):
                found.setdefault(
                    event.p,
                    InputFile(size=event.s, time=event.t, hash=event.h, made=made, line=event.l),
                )
    return found


def first_reads(recorded: Sequence[Recorded]) -> dict[str, FirstRead]:
    """Each file that a process read, as the first one found it."""
    began = min((one.began for one in recorded if one.began is not None), default=None)
    found: dict[str, FirstRead] = {}
    for one in recorded:
        times = {event.p: event.time for event in reversed(one.opened) if event.m == "r"}
        for event in one.inputs:
            time = times.get(event.p)
            early = began is None or (time is not None and time < began)
            found.setdefault(
                event.p, FirstRead(size=event.s, hash=event.h, early=early, line=event.l)
            )
    return found


def _family(one: Recorded, recorded: Sequence[Recorded]) -> Iterator[Recorded]:
    """A process and those that it descends from, itself first: the latest of each process id that
    began before the one below.
    """
    seen: set[str] = set()
    member: Recorded | None = one
    while member is not None and member.name not in seen:
        seen.add(member.name)
        yield member
        above, limit, node = member.process.ppid, member.process.time, member.node
        parents = [
            each
            for each in recorded
            if (each.node, each.process.pid) == (node, above) and each.process.time <= limit
        ]
        member = max(parents, key=lambda each: each.process.time, default=None)
