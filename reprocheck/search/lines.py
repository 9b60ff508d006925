"""The controls that lines of the user's speak for, by the lists of `causes/likely.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reprocheck.causes.likely import table
from reprocheck.causes.usercode import Hint, UserCode
from reprocheck.model import Rung, SourceLine
from reprocheck.model.evidence import seed_line

_NO_CALL = (re.compile(r"(?!)"), "")
"""Calls that the control of a kind leaves alone, where it leaves none."""


def spoken(hints: Iterable[Hint]) -> list[str]:
    """The controls that lines of the user's speak for."""
    return list(filter(None, dict.fromkeys(map(_speaks_for, hints))))


def _speaks_for(hint: Hint) -> str:
    """The control that a line speaks for: that of its kind, but for calls which that one leaves
    alone; "" where there is none.
    """
    calls, other = table().beyond.get(hint.kind, _NO_CALL)
    if calls.search(hint.name):
        return other
    return table().hints.get(hint.kind, "")


def beyond_reach(kind: str, name: str) -> bool:
    """Whether a call is one that the control of its kind leaves alone, and no other reaches."""
    calls, other = table().beyond.get(kind, _NO_CALL)
    return not other and calls.search(name) is not None


def at_place(code: UserCode, rung: Rung) -> list[str]:
    """The controls that a line speaks for where the runs diverge: in the function that the rung
    names, or where the seed is made.
    """
    seeded = code.around(_seed_line(rung))
    made = [hint for hint in code.around(rung.source) if hint.kind != "draw"]
    return spoken([*seeded, *made])


def _seed_line(rung: Rung) -> SourceLine | None:
    """The line that seeded a generator with another number in each run."""
    file, _, line = seed_line(rung.evidence).rpartition(":")
    return SourceLine(file=file, line=int(line)) if file and line.isdigit() else None
