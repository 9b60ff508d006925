"""The rows as Markdown: a table a group, in docs/reference/faults.md."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Mapping, Sequence
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


def tables(rows: Sequence[Row], before: Mapping[str, str], groups: Mapping[str, str]) -> str:
    """All rows, and their sums in front of them.

    before  the lines of rows that were made earlier, by their names, which stay
    groups  the faults that there are, in their order, with their groups
    """
    lines = {**before, **{cell(row.fault.name): _line(row) for row in rows}}
    found = {cell(name): group for name, group in groups.items() if cell(name) in lines}
    cells = [_cells_of(lines[name]) for name in found]
    made = [one for one in cells if one["points"] != NOT_MADE]
    points = sum(int(one["points"]) for one in made)
    bad = {name: sum(one[name] != "0" for one in made) for name in BAD}
    said = ", ".join(f"{name}: {count}" for name, count in bad.items())
    text = [
        f"Written by `python -m benchmarks.faults --write`. {machine().partition(' Load')[0]}",
        "",
        f"**{len(made)} faults, made at {points} points. Faults after which anything was {said}.**",
    ]
    for group in dict.fromkeys(found.values()):
        text += ["", f"## {group}", "", f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
        text += [lines[name] for name, of in found.items() if of == group]
    return "\n".join(text) + "\n"


def write(rows: Sequence[Row], groups: Mapping[str, str]) -> None:
    """Puts the rows into the page, in place of those of the same names; the others stay."""
    file = ROOT / FILE
    with file.open("r+b") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)  # another group may be made beside this one
        head, _, now = file.read_text(encoding="utf-8").partition(MARK)
        text = tables(rows, _lines(now), groups)
        file.write_text(head + MARK + "\n" + text, encoding="utf-8")


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


def _line(row: Row) -> str:
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
