"""The rows as Markdown: a table a group, in docs/reference/faults.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.faults.seen import Row, cell, shown
from benchmarks.processes import ROOT
from benchmarks.table import machine

FILE = Path("docs/reference/faults.md")
MARK = "<!-- python -m benchmarks.faults -->\n"
"""In the page: the tables follow to its end."""
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


def tables(rows: Sequence[Row], seconds: float) -> str:
    """All rows, and their sums in front of them."""
    made = [row for row in rows if row.seen]
    points = sum(len(row.seen) for row in made)
    counts = {
        "left running": sum(len(list(row.left)) for row in made),
        "wrong": sum(len(list(row.wrong)) for row in made),
        "lost": sum(len(list(row.lost)) for row in made),
    }
    said = ", ".join(f"{name}: {count}" for name, count in counts.items())
    lines = [
        f"Written by `python -m benchmarks.faults --write` in {seconds:.0f} s. {machine()}",
        "",
        f"**{len(made)} faults, made at {points} points. {said}.**",
    ]
    for group in dict.fromkeys(row.fault.group for row in rows):
        lines += ["", f"## {group}", "", *_table([row for row in rows if row.fault.group == group])]
    return "\n".join(lines) + "\n"


def write(text: str) -> None:
    """Puts the tables into the page, in place of those that are there."""
    file = ROOT / FILE
    head = file.read_text(encoding="utf-8").partition(MARK)[0]
    file.write_text(head + MARK + "\n" + text, encoding="utf-8")


def kept(text: str) -> dict[str, dict[str, str]]:
    """The rows of a page by their names: a cell by the name of its column."""
    found = {}
    for line in text.partition(MARK)[2].splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|")]
        if line.startswith("|") and len(cells) == len(HEAD) and cells[0] not in ("fault", "---"):
            found[cells[0].replace("\0", "|")] = dict(zip(HEAD, cells, strict=True))
    return found


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"| {' | '.join(HEAD)} |"
    yield "|" + "---|" * len(HEAD)
    for row in rows:
        yield f"| {' | '.join(_cells(row))} |"


def _cells(row: Row) -> list[str]:
    if not row.seen:
        return [cell(row.fault.name), "not made here", *[""] * (len(HEAD) - 2)]
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
