"""Find the controls that lines of the user's code speak for, and the lines of causes.

By the lists of `rules/likely.toml`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from reprocheck.causes.usercode import Hint, UserCode, is_at
from reprocheck.model import Cause, Rung, SourceLine
from reprocheck.model.evidence import seed_line
from reprocheck.rules.likely import table

_OF_PROCESS = ("draw", "split")
"""Kinds of hints at draws from the generators of the process: seeds that the script sets may undo
what a control does for them.
"""

OUT_OF_REACH = frozenset({"monotonic", "monotonic elapsed"})
"""Kinds of hints at what no control reaches."""


def spoken(hints: Iterable[Hint]) -> list[str]:
    """Return the controls that lines of the user's code suggest."""
    controls = (table().hints.get(hint.kind, "") for hint in hints)
    return list(filter(None, dict.fromkeys(controls)))


def fitting(cause: Cause, hints: Collection[Hint]) -> list[str]:
    """Return the controls that the line of a cause suggests, or a call that fits it.

    The call may be in another line.
    """
    meant = [hint for hint in hints if hint.kind not in _OF_PROCESS]
    on_line = [hint for hint in meant if is_at(hint.source, cause.source)]
    elsewhere = [hint for hint in meant if hint.name in cause.calls]
    return spoken([*on_line, *elsewhere])


def at_place(code: UserCode, rung: Rung) -> list[str]:
    """Return the controls that a line suggests at the place where the runs first differ.

    The place is the function that the rung names, or the line that makes the seed.
    """
    seeded = code.around(SourceLine.of(seed_line(rung.evidence)))
    made = [hint for hint in code.around(rung.source) if hint.kind != "draw"]
    return spoken([*seeded, *made])


def lines_of(causes: Iterable[Cause]) -> set[str]:
    """Return the lines of causes as `file:line`; causes without a line are left out."""
    return {cause.source.at for cause in causes if cause.source is not None}
