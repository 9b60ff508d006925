"""What a later run says in its own log of a state that it found, and run 1 does not: cited as
evidence, never decided upon.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reprocheck.files.regular_file import open_regular
from reprocheck.model import Check, RunRecord

SIGNS = ("resum", "restor", "checkpoint", "continu", "cache", "load", "found", "reus", "skip")
"""Parts of the words with which trainings speak of a state that they found."""
MOST_BYTES = 1 << 18
LONGEST = 120


def of_found_state(check: Check) -> str:
    """The first such line of a later run; "" where there is none."""
    if check.folder is None or len(check.runs) < 2:
        return ""
    before = set(_lines(check.runs[0].record, check.folder))
    for run in check.runs[1:]:
        for line in _lines(run.record, check.folder):
            if line not in before and any(sign in line.lower() for sign in SIGNS):
                return (
                    f"The log of run {run.record.number} says, and that of run 1 does not:"
                    f" {line[:LONGEST]!r}."
                )
    return ""


def _lines(run: RunRecord, folder: Path) -> Iterator[str]:
    """The lines with which the logs of a run begin."""
    for name in (run.stdout, run.stderr):
        try:
            with open_regular(folder / name) as file:
                text = file.read(MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        yield from (line.strip() for line in text.splitlines() if line.strip())
