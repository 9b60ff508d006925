"""The catalogue of causes on the terminal: as a table, or one entry of it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from reprocheck.cli.terminal import Stream, standard_output
from reprocheck.errors import UsageError
from reprocheck.language import count
from reprocheck.rules.catalogue import Entry, catalogue, find, nearest

TYPE_CHECKING = False  # importing `typing` takes as long as half of a bare start of Python
if TYPE_CHECKING:
    from rich.table import Table

LABEL = 9
NAME = 16
"""Columns of the name of a relation."""
GAP = 2
"""Columns between those of the table."""
SHORTEST_TITLE = 20


def _one(code: str) -> Entry:
    """Return the catalogue entry of a code."""
    entry = find(code)
    if entry is None:
        close = nearest(code)
        fix = "`reprocheck rules` lists them."
        if close:
            fix = f"Did you mean {' or '.join(close)}?"
        raise UsageError(f"There is no rule {code}.", fix)
    return entry


def print_table() -> int:
    """Print one row per entry; on a terminal titles are wrapped, and each group has a heading."""
    out, entries = standard_output(), catalogue()
    code = max(len(entry.code) for entry in entries)
    title = max(len(entry.title) for entry in entries)
    frameworks = max(len(_frameworks(entry)) for entry in entries)
    if out.tty:
        title = max(SHORTEST_TITLE, out.width - code - frameworks - 2 * GAP)
    widths = (code, title, frameworks)
    if not out.tty:
        out.draw(_table(out, entries, widths))
        return 0
    for group, some in groupby(entries, key=lambda entry: entry.group):
        out.line(group, "bold")
        out.draw(_table(out, some, widths))
        out.line()
    out.paragraph(
        "`reprocheck rules CODE` says how one of them shows and how to fix it.", style="dim"
    )
    return 0


def _table(out: Stream, entries: Iterable[Entry], widths: tuple[int, int, int]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, GAP, 0, 0))
    for width, style in zip(widths, ("cyan", "", "dim"), strict=True):
        table.add_column(width=width, style=style)
    for entry in entries:
        table.add_row(out.text(entry.code), out.text(entry.title), out.text(_frameworks(entry)))
    return table


def print_one(code: str) -> int:
    """Print one entry. Raises UsageError if there is none."""
    out, entry = standard_output(), _one(code)
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
    return 0


def _print_code(out: Stream, label: str, code: str) -> None:
    out.line()
    out.line(label, "bold")
    for row in code.splitlines():
        out.line(f"  {row}".rstrip())


def print_json(code: str | None) -> int:
    """Print all entries, or one, as JSON. Raises UsageError if there is none."""
    import json

    entries = catalogue() if code is None else [_one(code)]
    rows = [{**entry._asdict(), "group": entry.group} for entry in entries]
    shown = rows if code is None else rows[0]
    standard_output().line(json.dumps(shown, indent=2, ensure_ascii=False))
    return 0


def print_relations(*, as_json: bool) -> int:
    """Print the table of relations: a paragraph for each on a terminal, or JSON."""
    from reprocheck.settings.relations import relations

    out = standard_output()
    if as_json:
        import json
        from dataclasses import asdict

        listed = [asdict(one) for one in relations()]
        out.line(json.dumps(listed, indent=2, ensure_ascii=False))
        return 0
    for kind, some in groupby(relations(), key=lambda one: one.kind):
        rows = list(some)
        common = rows[0]
        runs = count(common.starts, "further run")
        out.line(f"{kind}: {common.expects}, of {common.facts}, {runs}", "bold")
        for one in rows:
            other = one.expects if one.expects != common.expects else ""
            about = filter(None, [one.changes, other, ", ".join(one.frameworks)])
            out.labelled(one.name, f"{one.does} ({'; '.join(about)})", "cyan", label_width=NAME)
        out.line()
    return 0


def _frameworks(entry: Entry) -> str:
    return ", ".join(entry.frameworks)
