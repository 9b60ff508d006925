"""Which samples all ranks have used together, in runs with different numbers of ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, zip_longest

from reprocheck.resume.gap.batches import Batch
from reprocheck.resume.gap.evidence import SharesGap

Samples = Counter[object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shares:
    """The samples of all ranks, in the pass over the data that was under way at an update.

    before  the samples that the ranks had used in the pass before the update
    behind  the samples of each iteration after the update
    """

    before: Samples
    behind: tuple[Samples, ...]

    @property
    def of_first(self) -> int:
        """Samples in the first iteration behind the update."""
        return next((samples.total() for samples in self.behind), 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A place at which both runs have used the same number of samples.

    iteration   the iteration of the resumed run
    due, came   all samples up to there: of the continued run, and of the resumed run
    """

    iteration: int
    due: Samples
    came: Samples


def shares(ranks: Iterable[Sequence[Batch]], k: int) -> Shares:
    """Return the samples that all ranks of a run used before and after update k.

    ranks  the batches of each rank
    """
    before: list[Batch] = []
    behind: list[list[Batch]] = []
    for batches in ranks:
        first = next((batch for batch in batches if batch.iteration > k), None)
        if first is not None:  # of the pass that holds it
            of_pass = [batch for batch in batches if batch.of is first.of]
            start = of_pass.index(first)
            before += of_pass[:start]
            behind.append(of_pass[start:])
    rows = zip_longest(*behind)
    return Shares(before=_samples(before), behind=tuple(_samples(row) for row in rows))


def _samples(batches: Iterable[Batch | None]) -> Samples:
    return Counter(chain.from_iterable(batch.samples for batch in batches if batch is not None))


def points(due: Shares, came: Shares) -> tuple[Point, ...]:
    """Yield the places at which both runs have used the same number of samples."""
    by_total = {samples.total(): samples for samples in accumulate(due.behind) if samples}
    return tuple(
        Point(iteration=number, due=by_total[samples.total()], came=samples)
        for number, samples in enumerate(accumulate(came.behind), 1)
        if samples.total() in by_total
    )


def shares_gap(
    places: Sequence[Point], before: Samples, ranks: tuple[int, int]
) -> SharesGap | None:
    """Return the first point at which the samples of all ranks differ from those due.

    The differing samples are counted up to the last point.
    """
    iteration = next((point.iteration for point in places if point.due != point.came), None)
    if iteration is None:
        return None
    last = places[-1]
    return SharesGap(
        iteration=iteration,
        ranks=ranks,
        of=last.came.total(),
        twice=(last.came & before).total(),
        never=(last.due - last.came).total(),
    )
