"""`reprocheck rules`: the catalogue of causes as a table, or one entry of it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from reprocheck.cli.terminal import Stream
    from reprocheck.rules import Entry

LABEL = 9
GAP = 2
"""Columns between those of the table."""
SHORTEST_TITLE = 20


def _complete(incomplete: str) -> list[str]:
    from reprocheck.rules import catalogue

    return [
        name
        for entry in catalogue()
        for name in (entry.code, entry.name)
        if name.lower().startswith(incomplete.lower())
    ]


def rules(
    code: Annotated[
        str | None,
        argument(
            metavar="[CODE]",
            help="Print one entry, by code or name.",
            autocompletion=_complete,
        ),
    ] = None,
    format: Annotated[
        str,
        option("--format", metavar="text|json", help="How to print. [text]"),
    ] = "text",
) -> int:
    """Print the causes that reprocheck knows: how each shows, and how to fix it."""
    from reprocheck.cli.terminal import standard_output
    from reprocheck.rules import catalogue

    if format not in ("text", "json"):
        raise UsageError(f"--format {format}: rules has no such format.", "Take text or json.")
    out = standard_output()
    found = _one(code) if code is not None else None
    if format == "json":
        _print_json(out, [found] if found else list(catalogue()), single=found is not None)
    elif found:
        _print_entry(out, found)
    else:
        _print_table(out, catalogue())
    return 0


def _one(code: str) -> Entry:
    """Return the catalogue entry of a code."""
    from reprocheck.rules import find, nearest

    entry = find(code)
    if entry is None:
        close = nearest(code)
        fix = "`reprocheck rules` lists them."
        if close:
            fix = f"Did you mean {' or '.join(close)}?"
        raise UsageError(f"There is no rule {code}.", fix)
    return entry


def _print_table(out: Stream, entries: tuple[Entry, ...]) -> None:
    """Print one row per entry; on a terminal titles are wrapped, and each group has a heading."""
    code = max(len(entry.code) for entry in entries)
    title = max(len(entry.title) for entry in entries)
    frameworks = max(len(_frameworks(entry)) for entry in entries)
    if out.tty:
        title = max(SHORTEST_TITLE, out.width - code - frameworks - 2 * GAP)
    widths = (code, title, frameworks)
    if not out.tty:
        out.draw(_table(out, entries, widths))
        return
    for group, some in groupby(entries, key=lambda entry: entry.group):
        out.line(group, "bold")
        out.draw(_table(out, some, widths))
        out.line()
    out.paragraph(
        "`reprocheck rules CODE` says how one of them shows and how to fix it.", style="dim"
    )


def _table(out: Stream, entries: Iterable[Entry], widths: tuple[int, int, int]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, GAP, 0, 0))
    for width, style in zip(widths, ("cyan", "", "dim"), strict=True):
        table.add_column(width=width, style=style)
    for entry in entries:
        table.add_row(out.text(entry.code), out.text(entry.title), out.text(_frameworks(entry)))
    return table


def _print_entry(out: Stream, entry: Entry) -> None:
    out.paragraph(f"{entry.code}  {entry.title}", style="bold")
    out.line(f"{entry.name} · {_frameworks(entry)} · {', '.join(entry.devices)}", "dim")
    out.line()
    out.paragraph(entry.why)
    out.line()
    out.labelled("Shows", entry.shows, "bold", label_width=LABEL)
    _print_code(out, "Fix", entry.fix)
    for framework, code in entry.fixes.items():
        _print_code(out, f"Fix ({framework})", code)
    _print_code(out, "Has it", entry.bad)
    _print_code(out, "Has not", entry.good)
    if entry.references:
        out.line()
        out.labelled("Seen in", ", ".join(entry.references), "bold", label_width=LABEL)


def _print_code(out: Stream, label: str, code: str) -> None:
    out.line()
    out.line(label, "bold")
    for row in code.splitlines():
        out.line(f"  {row}".rstrip())


def _print_json(out: Stream, entries: list[Entry], *, single: bool) -> None:
    import json
    from dataclasses import asdict

    rows = [{**asdict(entry), "group": entry.group} for entry in entries]
    out.line(json.dumps(rows[0] if single else rows, indent=2, ensure_ascii=False))


def _frameworks(entry: Entry) -> str:
    return ", ".join(entry.frameworks)
