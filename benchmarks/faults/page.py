"""The rows as Markdown: a table a group, in docs/reference/faults.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.faults.seen import Row, cell, shown
from benchmarks.processes import ROOT
from benchmarks.table import machine

FILE = Path("docs/reference/faults.md")
MARK = "<!-- python -m benchmarks.faults -->\n"
"""In the page: the tables follow to its end."""
NOT_MADE = "not made here"
BAD = ("left running", "wrong", "lost")
_IS_ROW = re.compile(r"\| (?!-)")
_BETWEEN = re.compile(r"(?<!\\)\|")
"""Between two cells; a bar within one has a backslash before it."""
HEAD = (
    "fault",
    "points",
    "exit",
    "what is said",
    "what to do",
    "runs kept",
    "left running",
    "wrong",
    "lost",
    "the check after it",
)


def tables(lines: Mapping[str, str], groups: Mapping[str, str], revision: str) -> str:
    """All rows, and their sums in front of them.

    lines   the rows as Markdown, by their names
    groups  the groups of these faults, in their order
    """
    cells = [_cells_of(line) for line in lines.values()]
    made = [one for one in cells if one["points"] != NOT_MADE]
    points = sum(int(one["points"]) for one in made)
    bad = {name: sum(one[name] != "0" for one in made) for name in BAD}
    said = ", ".join(f"{name}: {count}" for name, count in bad.items())
    of = f"of commit {revision}" if revision else "of sources that are not committed"
    text = [
        f"Written by `python -m benchmarks.faults --write`, all rows {of}."
        f" {machine().partition(' Load')[0]}",
        "",
        f"**{len(made)} faults, made at {points} points. Faults after which anything was {said}.**",
    ]
    for group in dict.fromkeys(groups.values()):
        text += ["", f"## {group}", "", f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
        text += [lines[name] for name, of_group in groups.items() if of_group == group]
    return "\n".join(text) + "\n"


def write(text: str) -> None:
    """Puts the tables into the page."""
    file = ROOT / FILE
    head = file.read_text(encoding="utf-8").partition(MARK)[0]
    file.write_text(f"{head}{MARK}\n{text}", encoding="utf-8")


def kept(text: str) -> dict[str, dict[str, str]]:
    """The rows of a page by their names: a cell by the name of its column."""
    return {name: _cells_of(line) for name, line in _lines(text.partition(MARK)[2]).items()}


def _lines(text: str) -> dict[str, str]:
    """The lines of tables that are rows, by their first cells."""
    found = {}
    for line in filter(_IS_ROW.match, text.splitlines()):
        found[_cells_of(line)[HEAD[0]]] = line
    return {name: line for name, line in found.items() if name != HEAD[0]}


def _cells_of(line: str) -> dict[str, str]:
    cells = (cell.strip() for cell in _BETWEEN.split(line.strip()[1:-1]))
    return dict(zip(HEAD, cells, strict=True))


def line(row: Row) -> str:
    """A row as Markdown."""
    return f"| {' | '.join(_cells(row))} |"


def _cells(row: Row) -> list[str]:
    if not row.seen:
        return [cell(row.fault.name), NOT_MADE, *[""] * (len(HEAD) - 2)]
    kept = ("none" if one.kept is None else str(one.kept) for one in row.seen)
    return [
        cell(row.fault.name),
        str(len(row.seen)),
        shown(_end(one.end) for one in row.seen),
        shown(one.said for one in row.seen),
        shown(one.advice for one in row.seen),
        shown(kept),
        shown(row.left) or "0",
        shown(row.wrong) or "0",
        shown(row.lost) or "0",
        shown(one.after for one in row.seen),
    ]


def _end(status: int) -> str:
    """An exit status as a shell says it."""
    return f"killed by signal {-status}" if status < 0 else str(status)
