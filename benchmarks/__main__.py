"""`python -m benchmarks [--only NAME] [--output FILE]`: all measurements, one table."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks import (
    accelerator,
    levels,
    ranks,
    recorder,
    scan,
    suite_history,
    suite_pages,
    table,
    whole,
)

HERE = Path(__file__).resolve().parent
MEASUREMENTS = {
    "step": recorder.step,
    "injection": recorder.injection,
    "memory": recorder.memory,
    "help": whole.help_page,
    "end-to-end": whole.end_to_end,
    "million": whole.million,
    "levels": levels.levels,
    "accelerator": accelerator.accelerator,
    "ranks": ranks.ranks,
    "scan": scan.scan,
}
LARGE = {
    "ranks-full": ranks.full,
    "suite-history": suite_history.measure,
    "suite-pages": suite_pages.pages,
}
"""Measurements that are made only when they are asked for. Those of the suite stand in suite.md."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        choices=[*MEASUREMENTS, *LARGE],
        action="append",
        help="this measurement only; may be repeated. `ranks-full` takes 20 GB of disk",
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="where to write the table (default: results.md here, nowhere with --only)",
    )
    arguments = parser.parse_args()
    started = time.monotonic()
    rows: list[table.Row] = []
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as scratch:
        for name in arguments.only or MEASUREMENTS:
            print(f"measuring: {name}", flush=True)
            folder = Path(scratch) / name
            folder.mkdir()
            rows.extend({**MEASUREMENTS, **LARGE}[name](folder))
    text = table.markdown(rows, table.machine(), time.monotonic() - started)
    print(text)
    output = arguments.output or (None if arguments.only else HERE / "results.md")
    if output is not None:
        output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
