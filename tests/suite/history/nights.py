"""Nights and checks for the tests of the history."""

from __future__ import annotations

from typing import Any

from reprocheck.suite.history import History
from reprocheck.suite.model import Key, Night, TargetCheck

KEY = Key(facts={"torch": "2.13.0", "device": "CPU"})
HOUR = 3600.0


def night(day: int, **fields: Any) -> Night:
    """The night of a day in November 2026."""
    started = 1.795e9 + day * 24 * HOUR
    name = f"2026-11-{day:02}T02-00-00Z-0000"
    return Night(**{"id": name, "started": started, "ended": started + HOUR, **fields})


def check(of: Night, target: str, **fields: Any) -> TargetCheck:
    """A check that is good."""
    given = {
        "night": of.id,
        "target": target,
        "started": of.started,
        "seconds": 2.5,
        "verdict": "reproducible",
        "exit_code": 0,
        "good": True,
        "bitwise": True,
        "key": KEY,
        **fields,
    }
    return TargetCheck(**given)


def record(history: History, *nights: Night, targets: tuple[str, ...] = ("resnet",)) -> None:
    """Nights in which every target was good."""
    for one in nights:
        history.begin_night(one)
        for target in targets:
            history.add(check(one, target))
