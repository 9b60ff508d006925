"""Lines of a target's own files, and reasons, as a row of the history has them."""

from __future__ import annotations

from collections.abc import Iterable

from reprocheck.redaction import Redaction, identity
from reprocheck.suite.check_report import Line
from reprocheck.suite.target import Target


def first_line(lines: Iterable[Line | None], target: Target) -> str:
    """Return the first of these lines whose file lies in the folder of the target, as `file:line`;
    "" if there is none.
    """
    for line in lines:
        if line is not None and (target.workdir / line.file).is_file():
            return f"{line.file}:{line.line or 0}"
    return ""


def to_paste(reason: str) -> str:
    """Return a reason that quotes no log, with the names of this machine redacted."""
    return Redaction("paste", identity=identity()).sentence(reason)
