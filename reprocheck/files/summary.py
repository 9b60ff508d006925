"""Shortens a list of paths to a few words."""

from __future__ import annotations

from collections.abc import Iterable


def summary(paths: Iterable[str], most: int = 3, others: int = 0) -> str:
    """Return some names in words, such as `a, b, c and 4 more`.

    others  number of further names that are not in the list
    """
    names = tuple(paths)
    named = ", ".join(names[:most])
    others += max(0, len(names) - most)
    return f"{named} and {others} more" if others else named
