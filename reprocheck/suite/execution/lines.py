"""Lines of a target's own files, as a row of the history has them."""

from __future__ import annotations

from collections.abc import Iterable

from reprocheck.model import Cause, Run, SourceLine
from reprocheck.suite.model import Target


def first_line(causes: Iterable[Cause], runs: Iterable[Run], target: Target) -> str:
    """The line of the first cause; where none has one, that at which the first run failed."""
    found = next((cause.source for cause in causes), None)
    return line_of(found, target) or line_of(_failed_at(runs), target)


def _failed_at(runs: Iterable[Run]) -> SourceLine | None:
    failed = (run for run in runs if run.record.ended == "failed")
    lines = (SourceLine.of(run.failed_at) for run in failed)
    return next((line for line in lines if line is not None), None)


def line_of(source: SourceLine | None, target: Target) -> str:
    """A line as a row of the history has it; "" where there is no such file."""
    if source is None or not (target.workdir / source.file).is_file():
        return ""
    return source.at
