"""The ladder across the gap where the resumed run has another number of ranks.

Weights, states of optimizers and schedules are those of the first rank, which all ranks have alike.
The samples of all ranks together are what is compared of the data. The generators of the ranks and
all that follows from them may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isclose, sqrt
from pathlib import Path

from reprocheck.model import RunRecord
from reprocheck.resume.gap import optimizers, state
from reprocheck.resume.gap.batches import Batch, taken
from reprocheck.resume.gap.evidence import Gap, ScheduleGap, SharesGap
from reprocheck.resume.gap.generators import drawers
from reprocheck.resume.gap.held import Held, held, named_alike
from reprocheck.resume.gap.ladder import Found, explained
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.model import Explained, OtherRanks, StateRungName
from reprocheck.trace.deep_run import DeepRun, read_deep

Samples = Counter[object]


def explain_others(folder: Path, runs: tuple[RunRecord, RunRecord], k: int) -> Explained:
    """What both runs of a report folder show, with other numbers of ranks."""
    one, other = (read_deep(folder, run) for run in runs)
    if not one.ranks or not other.ranks:
        return Explained()
    ranks = len(one.ranks), len(other.ranks)
    continued, resumed = Side(one.read(min(one.ranks)), k), Side(other.read(min(other.ranks)))
    due, came, before = _shares(one, k), _shares(other, 0), _before(one, k)
    gaps: dict[StateRungName, Gap] = {}
    compared: set[StateRungName] = set()
    for name, gap in _state_gaps(continued, resumed, ranks):
        compared.add(name)
        if gap is not None:
            gaps[name] = gap
    points = list(_points(due, came))
    if points:
        compared.add("batch")
    batch = _shares_gap(points, before, ranks)
    if batch is not None:
        gaps["batch"] = batch
    found = Found(
        rank=continued.trace.rank,
        gaps=gaps,
        compared=frozenset(compared),
        iterations=dict.fromkeys(gaps, 1) | ({"batch": batch.iteration} if batch else {}),
        marked=continued.marked and resumed.marked,
        frameworks=tuple(continued.trace.frameworks),
    )
    drawn = drawers(continued)
    return replace(
        explained([found]),
        other_ranks=OtherRanks(
            ranks=ranks,
            samples=(_size(due), _size(came)),
            drawn_by=next(iter(drawn.values()), ""),
        ),
    )


# ------------------------------------------------------------------------------------------ state


def _state_gaps(
    continued: Side, resumed: Side, ranks: tuple[int, int]
) -> Iterator[tuple[StateRungName, Gap | None]]:
    if not continued.held or not resumed.held:
        return
    was = held(continued)
    now = named_alike(was, held(resumed))
    if not _is_sharded(was, now):
        yield "weights", state.weights(was, now, continued, resumed)
        yield "optimizer state", optimizers.optimizer(was, now)
    gap = state.schedule(was, now)
    yield "hyper-parameters", None if _is_scaled(gap, ranks) else gap


def _is_sharded(was: Held, now: Held) -> bool:
    """Whether a rank holds other parts of the weights than before."""
    both = was.weights.keys() & now.weights.keys()
    return any(_shapes(was.weights[name]) != _shapes(now.weights[name]) for name in both)


def _shapes(fact: object) -> list[object]:
    return [leaf.shape for _, leaf in getattr(fact, "outputs", ())]


def _is_scaled(gap: ScheduleGap | None, ranks: tuple[int, int]) -> bool:
    """Whether a value was scaled with the number of ranks: a learning rate linearly (Goyal et al.
    2017, arXiv:1706.02677) or with the square root (Krizhevsky 2014, arXiv:1404.5997), a number of
    iterations inversely.
    """
    if gap is None or gap.values is None:
        return False
    was, now = gap.values
    if not isinstance(was, (int, float)) or not isinstance(now, (int, float)) or not was:
        return False
    ratio = ranks[1] / ranks[0]
    allowed = (ratio, 1 / ratio, sqrt(ratio))
    return any(isclose(now / was, factor, rel_tol=1e-6) for factor in allowed)


# ---------------------------------------------------------------------------------------- samples


def _shares(run: DeepRun, k: int) -> list[Samples]:
    """The samples of all ranks in each iteration behind update k, as far as the pass goes in which
    the first of them lies.
    """
    found: list[Samples] = []
    for rank in run.ranks:
        behind = [batch for batch in taken(run.read(rank).seen) if batch.iteration > k]
        for number, batch in enumerate(_of_first_pass(behind)):
            if number == len(found):
                found.append(Counter())
            found[number].update(batch.samples)
    return found


def _of_first_pass(batches: Sequence[Batch]) -> list[Batch]:
    return [batch for batch in batches if batch.of is batches[0].of]


def _before(run: DeepRun, k: int) -> Samples:
    """The samples that all ranks have used in the pass that was under way at update k."""
    found: Samples = Counter()
    for rank in run.ranks:
        batches = taken(run.read(rank).seen)
        due = next((batch for batch in batches if batch.iteration > k), None)
        done = [batch for batch in batches if batch.iteration <= k]
        for batch in done:
            if due is not None and batch.of is due.of:
                found.update(batch.samples)
    return found


def _size(shares: Sequence[Samples]) -> int:
    """Samples in an iteration."""
    return shares[0].total() if shares else 0


def _points(
    due: Sequence[Samples], came: Sequence[Samples]
) -> Iterator[tuple[int, Samples, Samples]]:
    """(iteration of the resumed run, what was due by then, what came), wherever both runs have used
    the same number of samples.
    """
    by_total: dict[int, Samples] = {}
    total: Samples = Counter()
    for samples in due:
        total = total + samples
        by_total[total.total()] = total
    mine: Samples = Counter()
    for number, samples in enumerate(came, 1):
        mine = mine + samples
        if samples and mine.total() in by_total:
            yield number, by_total[mine.total()], mine


def _shares_gap(
    points: Sequence[tuple[int, Samples, Samples]], before: Samples, ranks: tuple[int, int]
) -> SharesGap | None:
    """The first point at which the samples of all ranks are not those that were due; counted up to
    the last.
    """
    iteration = next((number for number, due, came in points if due != came), None)
    if iteration is None:
        return None
    _, due, came = points[-1]
    return SharesGap(
        iteration=iteration,
        ranks=ranks,
        of=came.total(),
        twice=(came & before).total(),
        never=(due - came).total(),
    )
