"""Controls on the terminal: those that were on, what each touched, and the search that confirms a
cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.cli.terminal import Stream

if TYPE_CHECKING:
    from reprocheck.model import Check, Search, Tried

LABEL, NAME, CLASS = 10, 16, 19
ARM = 32
"""Columns of the labels, of a control's name and class, and of the controls of an arm."""
_STYLES = {"+": "green", "-": "red"}
"""Of the rows of a patch, by their first character."""


def print_search(check: Check, out: Stream, *, every: bool) -> None:
    """What the search over controls found, how sure that is, and what was tried; every override
    where `every`.
    """
    from reprocheck.report import controls, text

    search = check.search
    if search is None:
        return
    out.labelled("proof", text.line(search.sentence), "bold", indent=2, label_width=LABEL)
    if search.confidence:
        out.labelled("", text.line(search.confidence), indent=2, label_width=LABEL)
    _print_tried(search, out)
    if said := controls.cost(search):
        out.labelled("cost", said, "dim", indent=2, label_width=LABEL)
    for name, why in controls.unavailable(check):
        out.labelled("no effect", f"{name}: {text.line(why)}", "dim", indent=2, label_width=LABEL)
    _print_overrides(check, out, every=every)
    out.line()
    if search.patch:
        out.labelled("patch", controls.checked(search), "dim", indent=2, label_width=LABEL)
        for row in controls.patch(search).split("\n"):
            out.line(f"    {out.style(out.fit(row), _STYLES.get(row[:1], ''))}".rstrip())
        out.line()


def _print_tried(search: Search, out: Stream) -> None:
    from reprocheck.report import controls, text

    for number, one in enumerate(search.tried):
        name = controls.arm(one)
        shown = name if len(name) <= ARM else f"{len(one.controls)} controls"
        row = f"{shown:<{ARM}} {text.count(one.runs, 'run'):<8} {controls.outcome(one)}"
        label = "" if number else "tried"
        gap = " " * (LABEL + 2 - len(label))
        out.line(f"  {out.style(label, 'dim')}{gap}{out.style(out.fit(row), _style(one))}")


def _style(tried: Tried) -> str:
    if tried.agrees is None:
        return "yellow"
    return "green" if tried.agrees and tried.diverges_from is None else ""


def _print_overrides(check: Check, out: Stream, *, every: bool) -> None:
    """Values of the user's that controls replaced on the way."""
    from reprocheck.report import controls, text, why

    found = controls.overrides(check)
    for number, one in enumerate(found if every else found[:3]):
        where = f" ({why.origin(one.source)})" if one.source else ""
        said = (
            f"{one.control}: {text.line(one.what)} was {controls.value(one.old)}, became"
            f" {controls.value(one.new)}{where}"
        )
        out.labelled("" if number else "overrode", said, "dim", indent=2, label_width=LABEL)
    if len(found) > 3 and not every:
        out.labelled(
            "", f"and {len(found) - 3} more (-v prints them)", "dim", indent=2, label_width=LABEL
        )


def print_controls(check: Check, out: Stream) -> None:
    """The controls under which the runs of the check were made: class, what each touched, and what
    stood against them.
    """
    from reprocheck.report import controls

    for number, name in enumerate(check.record.controls):
        label = "" if number else "controls"
        said = f"{name:<{NAME}}{controls.control_class(name):<{CLASS}}{controls.acted(check, name)}"
        out.labelled(label, said, "dim", indent=2, label_width=LABEL)
    for conflict in controls.conflicts(check):
        out.labelled(
            "conflict", controls.conflict_sentence(conflict), "yellow", indent=2, label_width=LABEL
        )
    if check.search is None:
        for name, why in controls.unavailable(check):
            out.labelled("no effect", f"{name}: {why}", "yellow", indent=2, label_width=LABEL)
    if check.record.controls:
        out.line()
