"""Lines in the log of a later run, but not of run 1, on state that the run found: cited as
evidence, but never decisive.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from reprocheck.files.limits import open_regular
from reprocheck.model import Check, RunRecord
from reprocheck.model.statements.inputs import FoundState

SIGNS = ("resum", "restor", "checkpoint", "continu", "cache", "load", "found", "reus", "skip")
"""Parts of the words with which trainings speak of a state that they found."""
MOST_BYTES = 1 << 18
LONGEST = 120


def of_found_state(check: Check) -> FoundState | None:
    """Return the first log line of a later run on found state that run 1 lacks; None if there is
    none.
    """
    if check.folder is None or len(check.runs) < 2:
        return None
    before = set(_lines(check.runs[0].record, check.folder))
    for run in check.runs[1:]:
        for line in _lines(run.record, check.folder):
            speaks_of_state = any(sign in line.lower() for sign in SIGNS)
            if speaks_of_state and line not in before:
                return FoundState(run=run.record.number, line=line[:LONGEST])
    return None


def _lines(run: RunRecord, folder: Path) -> Iterator[str]:
    """Yield the lines with which the logs of a run begin."""
    for name in (run.stdout, run.stderr):
        text = ""
        with suppress(OSError), open_regular(folder / name) as file:
            text = file.read(MOST_BYTES).decode("utf-8", "replace")
        yield from filter(None, map(str.strip, text.splitlines()))
