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
    """Return, of each check, the row that decides, a failure before one that could not be made
    before a pass, then the largest excess.
    """
    of_each: dict[str, list[Comparison]] = defaultdict(list)
    for row in rows:
        of_each[row.kind].append(row)
    return [max(some, key=attrgetter("badness")) for some in of_each.values()]


def shown_loss(value: float | None) -> str:
    """Return a loss with eight digits."""
    if value is None or not math.isfinite(value):
        return text.number(value)
    return f"{value:.8g}"


def state_said(check: Check) -> str:
    """Return the first files that run 1 left and a later run opened."""
    files = ", ".join(check.state_left[:MOST_FILES])
    more = len(check.state_left) - MOST_FILES
    if more <= 0:
        return files
    return f"{files} and {count(more, 'file')} more"


def environment_said(check: Check) -> list[str]:
    """Return the facts that are not the same in all runs; none of two recordings, whose differences
    are told by class.
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
    """Return all caveats but that on state left by run 1, which has a row of its own."""
    return [one for one in words.caveats(check) if one != check.state_caveat]


def nothing_recorded(check: Check) -> bool:
    """Return whether there was nothing to compare, or a run of which nothing is known."""
    return not check.verdict.comparisons or any(not run.traces for run in check.runs)


def ended_badly(check: Check) -> Run | None:
    """Return the first run that failed or was ended, where that is the verdict."""
    if check.verdict.verdict not in ("script_failed", "timed_out"):
        return None
    return next((run for run in check.runs if run.record.ended_badly), None)


def tail_title(run: Run) -> str:
    """Return what stands above the end of its log."""
    return f"Run {run.number} {words.ending(run)}. The end of its log:"


def tail(run: Run, width: int) -> list[str]:
    """Return the last rows of stderr, of stdout where that is empty, cut to the width."""
    log = _last_lines(run.stderr_tail) or _last_lines(run.stdout_tail)
    if not log:
        return ["(nothing)"]
    rows: list[str] = []
    for line in log.expandtabs(4).split("\n"):
        rows += textwrap.wrap(line, width, drop_whitespace=False, replace_whitespace=False) or [""]
    return rows


def _last_lines(log: str) -> str:
    return text.tail(log, TAIL_LINES, TAIL_CHARACTERS)
