"""What limits the verdict of a check or can explain a difference, as sections of one list each."""

from __future__ import annotations

from reprocheck.language import tr
from reprocheck.model import Check
from reprocheck.report import words
from reprocheck.report.blocks import Bullets, Section, Text, section


def caveats(check: Check) -> Section | None:
    return _list("caveats", tr("Caveats"), words.caveats(check))


def state_left(check: Check) -> Section | None:
    """Return the files that run 1 left and a later run read."""
    lead = (
        "These files changed while run 1 was under way and a later run read them, so the runs did"
        " not start from the same state. That alone can explain a difference."
    )
    title = tr("State left by run 1")
    return _list("state", title, tuple(check.state_left), lead, literal=True)


def changed_to_observe(check: Check) -> Section | None:
    lead = "The training ran unmodified, except for this:"
    return _list("observe", tr("Changed to observe"), tuple(check.changed_to_observe), lead)


def coverage(check: Check) -> Section | None:
    lead = "What was recorded, and what could not be."
    return _list("coverage", tr("Coverage"), tuple(check.coverage), lead)


def _list(
    identifier: str, title: str, items: tuple[str, ...], lead: str = "", *, literal: bool = False
) -> Section | None:
    """Return a section with one list; None if the list is empty."""
    if not items:
        return None
    first = Text(lead, "hint") if lead else None
    return section(identifier, title, first, Bullets(items=items, literal=literal))
