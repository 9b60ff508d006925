"""What the controls of a run did, from the events of all its processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reprocheck.model import Conflict, ControlTrace, Override, SourceLine, Touch, TouchedLine
from reprocheck.trace import events

AnyControlEvent = (
    events.Control | events.Override | events.Conflict | events.Unavailable | events.Patched
)


def gather(processes: Iterable[Sequence[AnyControlEvent]]) -> ControlTrace:
    """Return the events of each process as one account: of a touch the largest count a process,
    added up over processes; the rest once each.
    """
    touches: dict[tuple[str, str], Touch] = {}
    patched: dict[str, None] = {}
    said: dict[object, Override | Conflict | tuple[str, str]] = {}
    for found in processes:
        for touch in _touches(found):
            key = (touch.control, touch.what)
            before = touches.get(key)
            if before is not None:
                touch = _added(before, touch)
            touches[key] = touch
        patched.update((event.p, None) for event in found if isinstance(event, events.Patched))
        for event in found:
            item = _said(event)
            if item is not None:
                said.setdefault(repr(item), item)
    once = list(said.values())
    return ControlTrace(
        touches=tuple(touches.values()),
        overrides=tuple(item for item in once if isinstance(item, Override)),
        conflicts=tuple(item for item in once if isinstance(item, Conflict)),
        unavailable=tuple(item for item in once if isinstance(item, tuple)),
        patched=tuple(patched),
    )


def _touches(found: Sequence[AnyControlEvent]) -> list[Touch]:
    """Return the touches of one process, in the order in which they were first seen."""
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
    """Return two accounts of the same touch as one, the first of them first."""
    lines = tuple(dict.fromkeys((*one.lines, *other.lines)))
    return replace(
        one, count=one.count + other.count, source=one.source or other.source, lines=lines
    )


def _said(event: AnyControlEvent) -> Override | Conflict | tuple[str, str] | None:
    if type(event) is events.Override:
        return Override(
            control=event.c,
            what=event.w,
            old=event.old,
            new=event.new,
            source=SourceLine.of(event.l),
        )
    if type(event) is events.Conflict:
        return Conflict(
            control=event.c,
            what=event.w,
            value=event.v,
            wanted=event.wanted,
            source=SourceLine.of(event.l),
        )
    if type(event) is events.Unavailable:
        return (event.c, event.why)
    return None
