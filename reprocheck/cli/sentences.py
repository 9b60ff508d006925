"""What the short and the full form of a verdict both print."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import attrgetter

from reprocheck.language import count
from reprocheck.model import Check, Comparison, Run
from reprocheck.model.verdict import Tone
from reprocheck.report import text, words

STYLES: Mapping[Tone, str] = {
    "good": "bold green",
    "unsure": "bold yellow",
    "bad": "bold red",
    "failed": "bold red",
}
PATCH_STYLES = {"+": "green", "-": "red"}
"""Of the rows of a patch, by their first character."""
TAIL_LINES, TAIL_CHARACTERS = 12, 2000
MOST_FILES = 5


def deciding(rows: Iterable[Comparison]) -> list[Comparison]:
    """Return the deciding row of each check (forward and backward).

    A failure comes first, then a check that could not be made, then a pass; among equals the
    largest excess over the tolerance.
    """
    of_each: dict[str, list[Comparison]] = defaultdict(list)
    for row in rows:
        of_each[row.kind].append(row)
    return [max(some, key=attrgetter("badness")) for some in of_each.values()]


def shown_loss(value: float | None) -> str:
    """Format a loss with eight digits."""
    if value is None or not math.isfinite(value):
        return text.number(value)
    return f"{value:.8g}"


def state_said(check: Check) -> str:
    """Name the first files that run 1 left and a later run opened."""
    files = ", ".join(check.state_left[:MOST_FILES])
    more = len(check.state_left) - MOST_FILES
    if more <= 0:
        return files
    return f"{files} and {count(more, 'file')} more"


def environment_said(check: Check) -> list[str]:
    """Return sentences on facts that differ between runs.

    None for two recordings, whose differences are shown by class.
    """
    if check.between is not None:
        return []
    return [
        (
            f"{item.key}: {text.fact(item.reference)} in run 1, {text.fact(item.value)} in run"
            f" {item.run}"
        )
        for item in check.environment_differences
    ]


def caveats_said(check: Check) -> list[str]:
    """Return all caveats except the one on state left by run 1, which has its own row."""
    return [one for one in words.caveats(check) if one != check.state_caveat]


def nothing_recorded(check: Check) -> bool:
    """Return whether there was nothing to compare, or nothing is known of a run."""
    return not check.verdict.comparisons or any(not run.traces for run in check.runs)


def ended_badly(check: Check) -> Run | None:
    """Return the first run that failed or was ended, if that decides the verdict; else None."""
    if check.verdict.verdict not in ("script_failed", "timed_out"):
        return None
    return next((run for run in check.runs if run.record.ended_badly), None)


def tail_title(run: Run) -> str:
    """Return the title above the end of a run's log."""
    return f"Run {run.number} {words.ending(run)}. The end of its log:"


def tail(run: Run, width: int) -> list[str]:
    """Return the last rows of a run's stderr, or of stdout if stderr is empty, cut to the width."""
    log = _last_lines(run.stderr_tail) or _last_lines(run.stdout_tail)
    if not log:
        return ["(nothing)"]
    rows: list[str] = []
    for line in log.expandtabs(4).split("\n"):
        rows += textwrap.wrap(line, width, drop_whitespace=False, replace_whitespace=False) or [""]
    return rows


def _last_lines(log: str) -> str:
    return text.tail(log, TAIL_LINES, TAIL_CHARACTERS)
