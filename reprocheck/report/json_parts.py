"""Pieces of report.json that several of its parts have.

Standard library only.
"""

from __future__ import annotations

from reprocheck.model import Run, SourceLine


def attributes(thing: object, *names: str) -> dict[str, object]:
    """Return some attributes of an object, each under its own name."""
    return {name: getattr(thing, name) for name in names}


def source_line(source: SourceLine | None) -> dict[str, object] | None:
    """Return a line of the user's code."""
    if source is None:
        return None
    return attributes(source, "file", "line")


def ranks_and_failure(run: Run) -> dict[str, object]:
    """Return the number of ranks of a run, and the line at which it failed."""
    failed_at = None
    if run.record.ended == "failed":
        failed_at = SourceLine.of(run.failed_at)
    return {"world": run.world or len(run.traces), "failed_at": source_line(failed_at)}
