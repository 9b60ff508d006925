"""Why the runs differ, on the terminal: the ladder in one row a rung, and the causes with evidence,
source line and fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.cli.labels import Labels
from reprocheck.cli.terminal import padded
from reprocheck.language import tr
from reprocheck.report import scan_findings, text, why

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.model import Cause, Check, Ladder
    from reprocheck.model.static import StaticScan
    from reprocheck.report.why import Row

NAME, STATUS, LABEL = 21, 14, 10
MOST_NAMED = 5
"""Causes of which only the code is printed."""


def print_ladder(ladder: Ladder, out: Stream) -> None:
    """Print a row for each rung, with an arrow at the first that differs.

    A row has the name, `equal`, `differs` or `not recorded`, and where.
    """
    for row in why.rows(ladder):
        out.line(_drawn(row, out), _style(row))
    out.line()


def _style(row: Row) -> str:
    if row.first:
        return "bold red"
    if row.differs:
        return "red"
    return "dim"


def _drawn(row: Row, out: Stream) -> str:
    arrow = "  "
    if row.first:
        arrow = out.fit("→ ")
    head = arrow + padded(row.name, NAME) + padded(row.status, STATUS)
    return out.cut(f"{head}{row.where}".rstrip(), out.width - 1)


def print_causes(check: Check, out: Stream, *, every: bool) -> None:
    """Print the best cause, or those that are confirmed; all of them where `every`."""
    confirmed = sum(cause.confidence == "confirmed" for cause in check.causes)
    shown = max(1, confirmed)
    if every:
        shown = len(check.causes)
    for cause in check.causes[:shown]:
        _print_cause(cause, out)
    hidden = [cause.code for cause in check.causes[shown:]]
    if not hidden:
        return
    if len(hidden) > MOST_NAMED:
        hidden[MOST_NAMED:] = ["…"]
    said = tr("{codes} (-v prints them; the report has them, too)", codes=", ".join(hidden))
    Labels(out, LABEL).row("also", said)
    out.line()


def print_scan(scan: StaticScan, out: Stream, *, every: bool) -> None:
    """Print how much the scan finds and what of it ran; the places where `every`."""
    labels = Labels(out, LABEL)
    labels.row("scan", scan_findings.sentence(scan))
    if every:
        for one, row in zip(scan.findings, scan_findings.rows(scan), strict=True):
            code, place, message, state = row
            said = tr(
                "{place} {code}, {severity}, {state}: {message}",
                place=place,
                code=code,
                severity=tr(one.severity),
                state=state,
                message=message,
            )
            labels.row("", said)
    out.line()


def _print_cause(cause: Cause, out: Stream) -> None:
    labels = Labels(out, LABEL)
    labels.row("cause", why.cause_title(cause), "bold")
    for sentence in cause.evidence:
        labels.row("", text.line(sentence))
    if cause.source:
        code = text.line(cause.source.text)
        labels.row("line", f"{why.origin(cause.source)}  {code}".rstrip())
    fix = why.fix(cause)
    if fix and why.is_code(fix):
        out.line(f"  {tr('fix')}", "dim")
        labels.code(fix, "cyan")
    elif fix:
        labels.row("fix", fix)
    out.line()
