"""Why the runs differ, on the terminal: the ladder in one row a rung, and the causes with evidence,
source line and fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.cli.terminal import Stream

if TYPE_CHECKING:
    from reprocheck.model import Cause, Check, Ladder
    from reprocheck.model.static import StaticScan
    from reprocheck.report.why import Row

NAME, STATUS, LABEL = 21, 14, 10


def print_ladder(ladder: Ladder, out: Stream) -> None:
    """A row for each rung: its name, `equal`, `differs` or `not recorded`, and where; an arrow at
    the first that differs.
    """
    from reprocheck.report import why

    for row in why.rows(ladder):
        weak = "red" if row.differs else "dim"
        out.line(_drawn(row, out), "bold red" if row.first else weak)
    out.line()


def _drawn(row: Row, out: Stream) -> str:
    arrow = "→ " if row.first else "  "
    head = f"{arrow}{row.name:<{NAME}}{row.status:<{STATUS}}"
    return out.clip(f"{out.fit(head)}{row.where}".rstrip())


def print_causes(check: Check, out: Stream, *, every: bool) -> None:
    """The best cause, or those that are confirmed; all of them where `every`."""
    shown = (
        len(check.causes)
        if every
        else max(1, sum(cause.confidence == "confirmed" for cause in check.causes))
    )
    for cause in check.causes[:shown]:
        _print_cause(cause, out)
    hidden = len(check.causes) - shown
    if hidden > 0:
        others = ", ".join(cause.code for cause in check.causes[shown : shown + 5]) + (
            ", …" if hidden > 5 else ""
        )
        out.labelled(
            "also",
            f"{others} (-v prints them; the report has them, too)",
            "dim",
            indent=2,
            label_width=LABEL,
        )
        out.line()


def print_scan(scan: StaticScan, out: Stream, *, every: bool) -> None:
    """How much the scan finds and what of it ran; the places where `every`."""
    from reprocheck.report import static

    out.labelled("scan", static.sentence(scan), "dim", indent=2, label_width=LABEL)
    for one, (code, place, message, state) in (
        zip(scan.findings, static.rows(scan), strict=True) if every else ()
    ):
        out.labelled(
            "", f"{place} {code}, {one.severity}, {state}: {message}", indent=2, label_width=LABEL
        )
    out.line()


def _print_cause(cause: Cause, out: Stream) -> None:
    from reprocheck.report import text, why

    out.labelled("cause", why.cause_title(cause), "bold", indent=2, label_width=LABEL)
    for sentence in cause.evidence:
        out.labelled("", text.line(sentence), indent=2, label_width=LABEL)
    if cause.source:
        code = text.line(cause.source.text)
        out.labelled(
            "line",
            why.origin(cause.source) + (f"  {code}" if code else ""),
            "dim",
            indent=2,
            label_width=LABEL,
        )
    fix = why.fix(cause)
    if fix and why.is_code(fix):
        out.line("  " + out.style("fix", "dim"))
        for line in fix.split("\n"):
            out.line(f"    {out.style(line, 'cyan')}".rstrip())
    elif fix:
        out.labelled("fix", fix, "dim", indent=2, label_width=LABEL)
    out.line()
