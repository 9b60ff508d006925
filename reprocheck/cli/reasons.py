"""Why the runs differ, on the terminal: the ladder in one row a rung, and the causes with evidence,
source line and fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.cli.labels import Labels
from reprocheck.cli.terminal import padded
from reprocheck.language import tr
from reprocheck.report import causes, ladder, scan_findings

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.model import Check, Ladder
    from reprocheck.model.static import StaticScan
    from reprocheck.report.blocks import RungRow

NAME, STATUS, LABEL = 21, 14, 10
MOST_NAMED = 5
"""Causes of which only the code is printed."""


def print_ladder(rungs: Ladder, out: Stream) -> None:
    """Print a row for each rung, with an arrow at the first that differs."""
    for row in ladder.rows(rungs):
        out.line(_drawn(row, out), _style(row))
    out.line()


def _style(row: RungRow) -> str:
    if row.first:
        return "bold red"
    if row.differs:
        return "red"
    return "dim"


def _drawn(row: RungRow, out: Stream) -> str:
    arrow = "  "
    if row.first:
        arrow = out.fit("→ ")
    head = arrow + padded(row.name, NAME) + padded(row.status, STATUS)
    return out.cut(f"{head}{row.where}".rstrip(), out.width - 1)


def print_causes(check: Check, out: Stream, *, every: bool) -> None:
    """Print the confirmed causes, or the best one if none is confirmed; all causes if `every`."""
    confirmed = sum(cause.confidence == "confirmed" for cause in check.causes)
    shown = max(1, confirmed)
    if every:
        shown = len(check.causes)
    for cause in check.causes[:shown]:
        panel = causes.panel(check, cause, causes.own_fix(cause), leads=False)
        Labels(out, LABEL).blocks([panel])
        out.line()
    hidden = [cause.code for cause in check.causes[shown:]]
    if not hidden:
        return
    if len(hidden) > MOST_NAMED:
        hidden[MOST_NAMED:] = ["…"]
    said = f"{', '.join(hidden)} (-v prints them; the report has them, too)"
    Labels(out, LABEL).row("also", said)
    out.line()


def print_scan(scan: StaticScan, out: Stream, *, every: bool) -> None:
    """Print how much the static scan found and how much of that code ran; each place if `every`."""
    labels = Labels(out, LABEL)
    labels.row("scan", scan_findings.sentence(scan))
    if every:
        for one, row in zip(scan.findings, scan_findings.rows(scan), strict=True):
            code, place, message, state = row
            said = f"{place} {code}, {tr(one.severity)}, {state}: {message}"
            labels.row("", said)
    out.line()
