"""`python -m benchmarks.faults [--only TEXT] [--jobs N] [--write]`: makes every fault, and prints
what became of it; exit 1 where anything is wrong, left running or lost. `--write` puts the rows
into docs/reference/faults.md; with --only the others stay as they are.
"""

from __future__ import annotations

import argparse
import compileall
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.faults import damaged, disks, kills, machine, page, trainings
from benchmarks.faults.seen import Fault, Row, Seen
from benchmarks.processes import ROOT


def every() -> Iterator[Fault]:
    """All faults, in the order of the table."""
    for group in (kills, disks, trainings, machine, damaged):
        yield from group.faults()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--only", action="append", metavar="TEXT", help="names that contain TEXT")
    parser.add_argument("--jobs", type=int, default=2, help="points side by side [2]")
    parser.add_argument("--write", action="store_true", help=f"put the rows into {page.FILE}")
    arguments = parser.parse_args()
    compileall.compile_dir(ROOT / "reprocheck", quiet=2)
    chosen = [fault for fault in every() if _is_named(fault, arguments.only)]
    groups = {fault.name: fault.group for fault in every()}
    rows: list[Row] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for fault in chosen:
            rows.append(made(fault, pool))
            if arguments.write:
                page.write(rows[-1:], groups)
    print(page.tables(rows, {}, groups))
    return not all(row.is_good for row in rows)


def made(fault: Fault, pool: ThreadPoolExecutor) -> Row:
    """A fault at all of its points."""
    found: Sequence[Seen | None] = list(
        pool.map(lambda point: _at_point(fault, point), range(fault.points))
    )
    row = Row(fault=fault, seen=[one for one in found if one is not None])
    state = "ok" if row.is_good else [*row.wrong, *row.left, *row.lost][:6]
    print(f"{fault.name}: {len(row.seen)} of {fault.points}, {state}", file=sys.stderr, flush=True)
    return row


def _at_point(fault: Fault, point: int) -> Seen | None:
    """A fault at one point, in a folder of its own; None where it cannot be made here."""
    with tempfile.TemporaryDirectory(prefix="fault-", ignore_cleanup_errors=True) as folder:
        return fault.make(Path(folder, "place"), point)


def _is_named(fault: Fault, texts: Sequence[str] | None) -> bool:
    return not texts or any(text in f"{fault.group}: {fault.name}" for text in texts)


if __name__ == "__main__":
    raise SystemExit(main())
