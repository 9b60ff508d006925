"""Many paths in few words."""

from __future__ import annotations

from collections.abc import Iterable


def summary(paths: Iterable[str], most: int = 3, others: int = 0) -> str:
    """Return `a, b, c and 4 more`; `others`: how many there are beside these."""
    names = tuple(paths)
    named = ", ".join(names[:most])
    others += max(0, len(names) - most)
    return f"{named} and {others} more" if others else named
