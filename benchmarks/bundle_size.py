"""How large the attachment of a check is, and each part that can be sent alone: `python -m
benchmarks.bundle_size`. `--write` puts the table into docs/reference/bundle.md.

Losses and a series are drawn at random, so that a zip cannot make them smaller, and logs have 2,000
lines.
"""

from __future__ import annotations

import argparse
import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.sown import plain
from reprocheck.bundle import Bundle, made
from reprocheck.bundle.contents import LARGEST
from reprocheck.model import Check, LossSeries, Run, Trace
from reprocheck.redaction import Redaction, found_scanner
from reprocheck.report.issue import MOST

SHAPES = (
    (2, 1, 10),
    (2, 100, 1_000),
    (5, 8, 100_000),
    (2, 1, 1_000_000),
    (2, 1_024, 10),
)
"""Runs, ranks of each, iterations of each rank."""
MOST_ON_GITHUB = 25_000_000
"""Bytes of a file that GitHub takes in an issue."""
PAGE = Path("docs/reference/bundle.md")
BEGIN, END = "<!-- table of sizes -->", "<!-- end of the sizes -->"
HEAD = (
    "| check | values | `.zip` | `.html` | characters of `.md` |",
    "|---|--:|--:|--:|--:|",
)


def large(runs: int, ranks: int, iterations: int) -> Check:
    """A check of this size."""
    draw = random.Random(0)
    check = plain()
    made_runs = (_run(check.runs[0], number, ranks, iterations, draw) for number in range(runs))
    return replace(check, runs=tuple(made_runs))


def _run(run: Run, number: int, ranks: int, iterations: int, draw: random.Random) -> Run:
    traces = tuple(_trace(run.traces[0], rank, iterations, draw) for rank in range(ranks))
    log = "".join(f"epoch {line} loss {draw.random()}\n" for line in range(2_000))
    record = replace(run.record, number=number + 1)
    return replace(run, record=record, traces=traces, stdout_tail=log)


def _trace(trace: Trace, rank: int, iterations: int, draw: random.Random) -> Trace:
    whole = array("q", range(1, iterations + 1))
    losses = LossSeries(
        values=array("d", (draw.random() for _ in range(iterations))),
        dtype_of=array("B", bytes(iterations)),
        dtypes=("float32",),
        ends=whole,
    )
    series = replace(
        trace.series[0], numbers=losses, iterations=whole, steps=array("d", map(float, whole))
    )
    return replace(trace, rank=rank, losses=losses, series=(series,))


@dataclass(frozen=True, slots=True)
class Size:
    """How large the parts of an attachment are."""

    values: int
    zipped: int
    page: int
    issue: int

    @property
    def fits(self) -> bool:
        """Whether all of them are within their limits."""
        return (
            self.zipped <= LARGEST
            and max(self.zipped, self.page) <= MOST_ON_GITHUB
            and self.issue <= MOST
        )


def size(values: int, bundle: Bundle) -> Size:
    """The sizes of an attachment."""
    return Size(
        values=values,
        zipped=len(bundle.zipped),
        page=len(bundle.files["report.html"]),
        issue=len(bundle.files["issue.md"].decode()),
    )


def measured() -> Iterator[tuple[str, Size]]:
    """Each check in words, with its sizes."""
    for runs, ranks, iterations in SHAPES:
        check = large(runs, ranks, iterations)
        bundle = made(check, Redaction(scanner=found_scanner()))
        of_ranks = f"{ranks:,} ranks" if ranks > 1 else "1 rank"
        said = f"{runs} runs, {of_ranks}, {iterations:,} iterations, a series beside the loss"
        yield said, size(2 * runs * ranks * iterations, bundle)


def row(said: str, of: Size) -> str:
    """A row of the table."""
    megabytes = (f"{bytes_ / 1e6:.2f} MB" for bytes_ in (of.zipped, of.page))
    return f"| {said} | {of.values:,} | {' | '.join(megabytes)} | {of.issue:,} |"


def main() -> int:
    """Prints the sizes; exit 1 where one is larger than it may be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE}")
    asked = parser.parse_args()
    found = list(measured())
    table = "\n".join([*HEAD, *(row(*one) for one in found)])
    print(table)
    if asked.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
    return 0 if all(of.fits for _, of in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
