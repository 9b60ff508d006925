"""How large the attachment of a large check is: `python -m benchmarks.bundle_size`.

Losses and a series are drawn at random, so that a zip cannot make them smaller.
"""

from __future__ import annotations

import random
from array import array
from dataclasses import replace

from benchmarks.sown import plain
from reprocheck.bundle import made
from reprocheck.bundle.contents import LARGEST
from reprocheck.model import Check, LossSeries, Run, Trace
from reprocheck.redaction import Redaction, found_scanner

SHAPES = ((5, 8, 100_000), (2, 1, 1_000_000), (2, 1_024, 10), (2, 64, 1_000))
"""Runs, ranks of each, iterations of each rank."""


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


def main() -> int:
    """Prints the sizes; exit 1 where one is larger than it may be."""
    sizes = []
    for runs, ranks, iterations in SHAPES:
        check = large(runs, ranks, iterations)
        redaction = Redaction(scanner=found_scanner())
        sizes.append(len(made(check, redaction).zipped))
        values = 2 * runs * ranks * iterations
        print(
            f"| {runs} runs, {ranks:,} ranks, {iterations:,} iterations, a series | {values:,}"
            f" | {sizes[-1] / 1e6:.2f} MB |",
            flush=True,
        )
    return int(max(sizes) > LARGEST)


if __name__ == "__main__":
    raise SystemExit(main())
