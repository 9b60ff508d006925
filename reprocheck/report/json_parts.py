"""Pieces of report.json that several of its parts have.

Standard library only.
"""

from __future__ import annotations

from reprocheck.model import SourceLine


def attributes(thing: object, *names: str) -> dict[str, object]:
    """Return some attributes of an object, each under its own name."""
    return {name: getattr(thing, name) for name in names}


def source_line(source: SourceLine | None) -> dict[str, object] | None:
    """Return a line of the user's code."""
    if source is None:
        return None
    return attributes(source, "file", "line")
