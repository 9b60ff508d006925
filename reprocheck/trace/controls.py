"""Gathers what the controls of a run did, from the events of all processes of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reprocheck.model import Conflict, ControlTrace, Override, SourceLine, Touch, TouchedLine
from reprocheck.model.seeds import SeedingCall
from reprocheck.trace import events


def gather(processes: Iterable[Sequence[events.OfControls]]) -> ControlTrace:
    """Combine the events about controls from all processes of a run.

    The counts of a touch (a control that acted on one function or setting) are added up over the
    processes, with the largest count of each process. Every other event is kept once.
    """
    touches: dict[tuple[str, str], Touch] = {}
    patched: dict[str, None] = {}
    seedings: dict[tuple[int, str], SeedingCall] = {}
    overrides: dict[str, Override] = {}
    conflicts: dict[str, Conflict] = {}
    unavailable: dict[tuple[str, str], None] = {}
    for recorded in processes:
        for touch in _touches(recorded):
            key = (touch.control, touch.what)
            before = touches.get(key)
            if before is not None:
                touch = _added(before, touch)
            touches[key] = touch
        for seeding in _seedings(recorded):
            # ranks do the same: the first process tells
            seedings.setdefault((seeding.number, seeding.what), seeding)
        for event in recorded:
            if isinstance(event, events.Patched):
                patched[event.p] = None
            elif isinstance(event, events.Unavailable):
                unavailable[event.c, event.why] = None
            elif isinstance(event, events.Override):
                override = Override(
                    control=event.c,
                    what=event.w,
                    old=event.old,
                    new=event.new,
                    source=SourceLine.of(event.l),
                )
                overrides.setdefault(repr(override), override)
            elif isinstance(event, events.Conflict):
                conflict = Conflict(
                    control=event.c,
                    what=event.w,
                    value=event.v,
                    wanted=event.wanted,
                    source=SourceLine.of(event.l),
                )
                conflicts.setdefault(repr(conflict), conflict)
    return ControlTrace(
        touches=tuple(touches.values()),
        overrides=tuple(overrides.values()),
        conflicts=tuple(conflicts.values()),
        unavailable=tuple(unavailable),
        patched=tuple(patched),
        seedings=tuple(seedings.values()),
    )


def _seedings(recorded: Sequence[events.OfControls]) -> list[SeedingCall]:
    """Return the calls of one process that seed, with the first draw behind each."""
    calls: dict[tuple[int, str], SeedingCall] = {}
    draws = {event.n: event for event in recorded if isinstance(event, events.Drawn)}
    for event in recorded:
        if not isinstance(event, events.Seeding):
            continue
        draw = draws.get(event.n)
        calls[event.n, event.w] = SeedingCall(
            number=event.n,
            what=event.w,
            value=event.v,
            source=SourceLine.of(event.l),
            inner=SourceLine.of(event.i or event.l),
            setting=event.s,
            generators=tuple(event.g),
            drawn_in=None if draw is None or draw.u else draw.i,
            may_be_drawn=draw is not None and draw.u,
        )
    return list(calls.values())


def _touches(found: Sequence[events.OfControls]) -> list[Touch]:
    """Return the touches of one process, in the order in which they were recorded first.

    A touch is a control that acted on one function or setting.
    """
    touches: dict[tuple[str, str], Touch] = {}
    for event in found:
        if type(event) is events.Control:
            key = (event.c, event.w)
            here = SourceLine.of(event.l)
            lines: tuple[TouchedLine, ...] = ()
            if here is not None:
                lines = (TouchedLine(source=here, takes=event.s, draws=event.d),)
            touch = Touch(
                control=event.c,
                what=event.w,
                count=event.n,
                value=event.v,
                setting=event.set,
                source=here,
                lines=lines,
            )
            before = touches.get(key)
            if before is not None:
                touch = replace(_added(before, touch), count=max(before.count, event.n))
            touches[key] = touch
    return list(touches.values())


def _added(one: Touch, other: Touch) -> Touch:
    """Combine two records of a touch: counts are added, lines of the first stand first."""
    lines = tuple(dict.fromkeys((*one.lines, *other.lines)))
    return replace(
        one, count=one.count + other.count, source=one.source or other.source, lines=lines
    )
