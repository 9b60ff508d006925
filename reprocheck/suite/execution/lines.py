"""Lines of a target's own files, as a row of the history has them."""

from __future__ import annotations

from reprocheck.model import SourceLine
from reprocheck.suite.model import Target


def line_of(source: SourceLine | None, target: Target) -> str:
    """A line as a row of the history has it; "" where there is no such file."""
    if source is None or not (target.workdir / source.file).is_file():
        return ""
    return source.at
