"""The ladder across the gap where the resumed run has another number of ranks.

Weights, states of optimizers and schedules are those of the first rank, which all ranks have alike.
The samples of all ranks together are what is compared of the data. The generators of the ranks and
all that follows from them may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, zip_longest
from math import isclose, sqrt
from pathlib import Path

from reprocheck.model import RunRecord
from reprocheck.resume.gap import sentences, training_state
from reprocheck.resume.gap.batches import Batch, taken
from reprocheck.resume.gap.evidence import AverageGap, Gap, ScheduleGap, SharesGap
from reprocheck.resume.gap.explanation import explained
from reprocheck.resume.gap.generators import drawers
from reprocheck.resume.gap.ladder import RankGaps
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.gap.training_state import Facts, StatePair, states_of
from reprocheck.resume.model import Explained, OtherRanks, StateRungName
from reprocheck.trace.deep_run import read_deep

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


def explain_others(folder: Path, runs: tuple[RunRecord, RunRecord], k: int) -> Explained:
    """Return what two runs of a report folder with different numbers of ranks show."""
    one, other = (read_deep(folder, run) for run in runs)
    if not one.ranks or not other.ranks:
        return Explained()
    ranks = len(one.ranks), len(other.ranks)
    continued = Side(one.read(min(one.ranks)), k)
    resumed = Side(other.read(min(other.ranks)))
    gaps: dict[StateRungName, Gap] = {}
    compared: set[StateRungName] = set()
    if continued.held and resumed.held:
        states = states_of(continued, resumed)
        of_state = dict(_state_gaps(states, continued, resumed, ranks))
        compared = of_state.keys() & set(states.rungs)
        gaps = {name: gap for name, gap in of_state.items() if gap is not None}
    iterations: dict[StateRungName, int] = dict.fromkeys(gaps, 1)
    # the batches that each rank trained on
    due = shares((taken(one.read(rank).seen) for rank in one.ranks), k)
    came = shares((taken(other.read(rank).seen) for rank in other.ranks), 0)
    common = points(due, came)
    if common:
        compared.add("batch")
    batch = shares_gap(common, due.before, ranks)
    if batch is not None:
        gaps["batch"] = batch
        iterations["batch"] = batch.iteration
    of_first = RankGaps(
        rank=continued.trace.rank,
        gaps=gaps,
        compared=frozenset(compared),
        iterations=iterations,
        marked=continued.marked and resumed.marked,
        frameworks=continued.frameworks,
    )
    other_ranks = OtherRanks(
        ranks=ranks,
        samples=(due.of_first, came.of_first),
        drawn_by=next(map(sentences.drawer, drawers(continued).values()), ""),
    )
    return replace(explained([of_first]), other_ranks=other_ranks)


def _state_gaps(
    states: StatePair, continued: Side, resumed: Side, ranks: tuple[int, int]
) -> Iterator[tuple[StateRungName, Gap | None]]:
    was, now = states.was.weights, states.now.weights
    common = was.keys() & now.keys()
    if all(_shapes(was, name) == _shapes(now, name) for name in common):
        yield "weights", training_state.weights(states, continued, resumed)
        yield "optimizer state", training_state.optimizer(states)
    gap = training_state.schedule(states)
    yield "hyper-parameters", None if _is_scaled(gap, ranks) else gap


def _shapes(weights: Facts, name: str) -> list[object]:
    return [leaf.shape for _, leaf in weights[name].outputs]


def _is_scaled(gap: ScheduleGap | AverageGap | None, ranks: tuple[int, int]) -> bool:
    """Return whether a value was scaled with the number of ranks.

    A learning rate is scaled linearly (Goyal et al. 2017, arXiv:1706.02677) or with the square root
    (Krizhevsky 2014, arXiv:1404.5997), a number of iterations inversely.
    """
    if not isinstance(gap, ScheduleGap) or gap.values is None:
        return False
    was, now = gap.values
    if not isinstance(was, (int, float)) or not isinstance(now, (int, float)) or not was:
        return False
    ratio = ranks[1] / ranks[0]
    allowed = (ratio, 1 / ratio, sqrt(ratio))
    return any(isclose(now / was, factor, rel_tol=1e-6) for factor in allowed)
