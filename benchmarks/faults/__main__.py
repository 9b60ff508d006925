"""`python -m benchmarks.faults [--only TEXT] [--jobs N] [--write]`: makes every fault, and prints
what became of it; exit 1 where anything is wrong, left running or lost. `--write` puts the tables
into docs/reference/faults.md. Where the command is broken off, it goes on behind the last row that
was finished, as long as the commit is the same one.
"""

from __future__ import annotations

import argparse
import compileall
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.faults import damaged, disks, finished, kills, machine, page, trainings
from benchmarks.faults.finished import Finished
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
    parser.add_argument("--write", action="store_true", help=f"put the tables into {page.FILE}")
    arguments = parser.parse_args()
    revision = finished.revision()
    if arguments.write and (arguments.only or not revision):
        parser.error("--write is for all faults, and for sources that are committed")
    compileall.compile_dir(ROOT / "reprocheck", quiet=2)
    _hear_every_signal()
    rows = finished.finished(revision)
    chosen = [fault for fault in every() if _is_named(fault, arguments.only)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for fault in chosen:
            if fault.name in rows:
                continue
            row = made(fault, pool)
            rows[fault.name] = Finished(
                revision=revision, name=fault.name, line=page.line(row), is_good=row.is_good
            )
            finished.add(rows[fault.name])
    groups = {fault.name: fault.group for fault in chosen}
    text = page.tables({name: rows[name].line for name in groups}, groups, revision)
    if arguments.write:
        page.write(text)
    print(text)
    return not all(rows[fault.name].is_good for fault in chosen)


def _hear_every_signal() -> None:
    """What nohup or a shell's background ignores, all that is started ignores, too: a training
    would outlive the signals that are to kill it.
    """
    for number in kills.SIGNALS.values():
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


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
