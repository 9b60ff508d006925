"""Lines of a target's own files, and reasons, as a row of the history has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from reprocheck.language import english
from reprocheck.model import Recorded, Run, SourceLine
from reprocheck.redaction import identity, redaction_of
from reprocheck.suite.target import Target


class Named(Protocol):
    """What has a line of the user's where that is known: a cause, or a mechanism of a resume."""

    @property
    def source(self) -> SourceLine | None:
        """The line."""


def first_line(causes: Iterable[Named], runs: Iterable[Run], target: Target) -> str:
    """Return the line of the first cause or mechanism; where it has none, that at which the first
    run failed.
    """
    found = next((cause.source for cause in causes), None)
    return line_of(found, target) or line_of(_failed_at(runs), target)


def _failed_at(runs: Iterable[Run]) -> SourceLine | None:
    failed = (run for run in runs if run.record.ended == "failed")
    lines = (SourceLine.of(run.failed_at) for run in failed)
    return next((line for line in lines if line is not None), None)


def line_of(source: SourceLine | None, target: Target) -> str:
    """Return a line as a row of the history has it; "" where there is no such file."""
    if source is None or not (target.workdir / source.file).is_file():
        return ""
    return source.at


def without_log(reason: str, check: Recorded) -> str:
    """Return a reason without what it quotes of the log of a check."""
    return redaction_of(check, "paste", identity=identity()).sentence(english(reason))
