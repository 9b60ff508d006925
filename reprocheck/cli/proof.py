"""Controls on the terminal: those that were on, what each touched, and the search that confirms a
cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.cli.labels import Labels
from reprocheck.cli.sentences import PATCH_STYLES
from reprocheck.cli.terminal import padded
from reprocheck.language import count
from reprocheck.report import controls, text

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.model import Check, Search, Tried

LABEL, NAME, CLASS = 10, 16, 19
ARM = 32
"""Columns of the labels, of a control's name and class, and of the controls of an arm."""
MOST_OVERRIDES = 3


def print_search(check: Check, out: Stream, *, every: bool) -> None:
    """Print what the search over controls found, how sure the result is, and what was tried; all
    overrides if `every`.
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
        out.line(out.joined("  ", (padded(label, LABEL), "dim"), "  ", (row, _style(one))))
        label = ""


def _style(tried: Tried) -> str:
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
            padded(name, NAME)
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
