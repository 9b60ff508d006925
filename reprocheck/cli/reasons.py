"""Print why the runs differ.

The ladder in one row a rung, the causes with evidence, source line and fix, the controls that were
on, and the search that confirms a cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.cli.labels import Labels
from reprocheck.cli.sentences import PATCH_STYLES
from reprocheck.cli.terminal import padded
from reprocheck.language import count, tr
from reprocheck.report import causes, controls, ladder, scan_findings, text

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.model import Check, Ladder, Search, Tried
    from reprocheck.model.static import StaticScan
    from reprocheck.report.blocks import RungRow

NAME, STATUS, LABEL = 21, 14, 10
MOST_NAMED = 5
"""Causes of which only the code is printed."""
CONTROL, CLASS = 16, 19
ARM = 32
"""Columns of the name and class of a control, and of the controls of an arm."""
MOST_OVERRIDES = 3


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


def print_search(check: Check, out: Stream, *, every: bool) -> None:
    """Print what the search over controls found, how sure the result is, and what was tried.

    All overrides if `every`.
    """
    search = check.search
    if search is None:
        return
    labels = Labels(out, LABEL)
    labels.row("proof", text.line(search.sentence), "bold")
    if search.confidence:
        labels.row("", text.line(search.confidence))
    _print_tried(search, out)
    for name, reason in controls.unavailable(check):
        labels.row("no effect", f"{name}: {text.line(reason)}")
    _print_overrides(check, labels, every=every)
    out.line()
    if search.patch:
        labels.row("patch", controls.checked(search))
        labels.code(controls.patch(search), PATCH_STYLES)
        out.line()


def _print_tried(search: Search, out: Stream) -> None:
    label = "tried"
    for one in search.tried:
        name = controls.arm(one)
        if len(name) > ARM:
            name = count(len(one.controls), "control")
        made = padded(count(one.runs, "run"), 8)
        row = f"{padded(name, ARM)} {made} {controls.outcome(one)}"
        out.line(out.joined("  ", (padded(label, LABEL), "dim"), "  ", (row, _trial_style(one))))
        label = ""


def _trial_style(tried: Tried) -> str:
    if tried.agrees is None:
        return "yellow"
    if tried.agrees and tried.diverges_from is None:
        return "green"
    return ""


def _print_overrides(check: Check, labels: Labels, *, every: bool) -> None:
    """Print the user's values that controls replaced."""
    said = []
    for one in controls.overrides(check):
        before, after = controls.value(one.old), controls.value(one.new)
        change = f"{one.control}: {text.line(one.what)} was {before}, became {after}"
        if one.source:
            change += f" ({text.origin(one.source)})"
        said.append(change)
    hidden = len(said) - MOST_OVERRIDES
    if hidden > 0 and not every:
        said[MOST_OVERRIDES:] = [f"and {hidden} more (-v prints them)"]
    labels.column("overrode", said)


def print_controls(check: Check, out: Stream) -> None:
    """Print the controls of the check: their class, what each changed, and conflicts."""
    labels = Labels(out, LABEL)
    labels.column(
        "controls",
        (
            padded(name, CONTROL)
            + padded(controls.control_class(name), CLASS)
            + controls.acted(check, name)
            for name in check.record.controls
        ),
    )
    for conflict in controls.conflicts(check):
        labels.row("conflict", controls.conflict_sentence(conflict), "yellow")
    if check.search is None:
        for name, reason in controls.unavailable(check):
            labels.row("no effect", f"{name}: {reason}", "yellow")
    if check.record.controls:
        out.line()
