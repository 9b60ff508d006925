"""`python -m benchmarks [--suite | --resume] [--only NAME] [--output FILE]`:
measurements, one table.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import (
    accelerator,
    levels,
    levels_calls,
    levels_parts,
    masking,
    ranks,
    recorder,
    resume_cost,
    scan,
    starts,
    suite_history,
    suite_night,
    suite_nights,
    suite_pages,
    suite_simulation,
    table,
    whole,
)

HERE = Path(__file__).resolve().parent
Measure = Callable[[Path], Iterable[table.Row]]
MEASUREMENTS: Mapping[str, Measure] = {
    "step": recorder.step,
    "keras": recorder.keras_batches,
    "injection": recorder.injection,
    "memory": recorder.memory,
    "help": whole.help_page,
    "end-to-end": whole.end_to_end,
    "million": whole.million,
    "levels": levels.levels,
    "calls": levels_calls.calls,
    "starts": starts.starts,
    "accelerator": accelerator.accelerator,
    "ranks": ranks.ranks,
    "scan": scan.scan,
    "masking": masking.masking,
}
SUITE: Mapping[str, Measure] = {
    "suite-history": suite_history.measure,
    "suite-night": suite_night.measure,
    "suite-pages": suite_pages.pages,
    "suite-simulation": suite_simulation.measure,
    "suite-nights": suite_nights.measure,
}
RESUME: Mapping[str, Measure] = {
    "resume-steps": resume_cost.steps,
    "resume-memory": resume_cost.memory,
}
LARGE: Mapping[str, Measure] = {"level-parts": levels_parts.parts, "ranks-full": ranks.full}
"""Measurements that are made only when they are asked for by their names."""
ALL = {**MEASUREMENTS, **SUITE, **RESUME, **LARGE}


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A table with what stands above it."""

    title: str
    command: str
    file: Path
    measurements: Mapping[str, Measure]


WHOLE = Page(
    title="Speed and memory",
    command="python -m benchmarks",
    file=HERE / "results.md",
    measurements=MEASUREMENTS,
)
OF_THE_SUITE = Page(
    title="The suite at its full size",
    command="python -m benchmarks --suite",
    file=HERE / "suite.md",
    measurements=SUITE,
)

OF_RESUME = Page(
    title="What a check of a resume costs",
    command="python -m benchmarks --resume",
    file=HERE / "resume_cost.md",
    measurements=RESUME,
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--suite",
        action="store_true",
        help="those of the suite: 1,000 targets, 365 nights, and 1,000 simulated nights; takes"
        " 2 GB of disk and needs PostgreSQL",
    )
    parser.add_argument(
        "--resume", action="store_true", help="those of `reprocheck resume`; takes 8 GB of disk"
    )
    parser.add_argument(
        "--only",
        choices=list(ALL),
        action="append",
        help="this measurement only; may be repeated. `ranks-full` takes 20 GB of disk",
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="where to write the table (default: results.md here, with --suite suite.md, with"
        " --resume resume_cost.md; nowhere with --only)",
    )
    arguments = parser.parse_args()
    page = WHOLE
    if arguments.suite:
        page = OF_THE_SUITE
    elif arguments.resume:
        page = OF_RESUME
    started = time.monotonic()
    rows = _measured(arguments.only or page.measurements)
    seconds = time.monotonic() - started
    text = table.markdown(rows, table.machine(), seconds, title=page.title, command=page.command)
    print(text)
    output = arguments.output
    if output is None and not arguments.only:
        output = page.file
    if output is not None:
        output.write_text(text, encoding="utf-8")


def _measured(names: Iterable[str]) -> list[table.Row]:
    """The rows of measurements, each of which has a folder of its own while it is made."""
    rows: list[table.Row] = []
    for name in names:
        print(f"measuring: {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix=f"benchmarks-{name}-") as folder:
            rows.extend(ALL[name](Path(folder)))
    return rows


if __name__ == "__main__":
    main()
