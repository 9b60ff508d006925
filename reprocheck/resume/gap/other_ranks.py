"""The ladder across the gap where the resumed run has another number of ranks.

Weights, states of optimizers and schedules are those of the first rank, which all ranks have alike.
The samples of all ranks together are what is compared of the data. The generators of the ranks and
all that follows from them may differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isclose, sqrt
from pathlib import Path

from reprocheck.model import RunRecord
from reprocheck.resume.gap import optimizers, state
from reprocheck.resume.gap.batches import Batch, taken
from reprocheck.resume.gap.evidence import AverageGap, Gap, ScheduleGap
from reprocheck.resume.gap.generators import drawers
from reprocheck.resume.gap.ladder import Found, explained
from reprocheck.resume.gap.sample_shares import points, shares, shares_gap
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.gap.training_state import compared_rungs, held, named_alike
from reprocheck.resume.model import Explained, OtherRanks, StateRungName
from reprocheck.trace.deep_run import DeepRun, read_deep


def explain_others(folder: Path, runs: tuple[RunRecord, RunRecord], k: int) -> Explained:
    """Return what both runs of a report folder show, with other numbers of ranks."""
    one, other = (read_deep(folder, run) for run in runs)
    if not one.ranks or not other.ranks:
        return Explained()
    ranks = len(one.ranks), len(other.ranks)
    continued, resumed = Side(one.read(min(one.ranks)), k), Side(other.read(min(other.ranks)))
    due, came = shares(_batches(one), k), shares(_batches(other), 0)
    gaps: dict[StateRungName, Gap] = {}
    compared: set[StateRungName] = set()
    for name, gap in _state_gaps(continued, resumed, ranks):
        compared.add(name)
        if gap is not None:
            gaps[name] = gap
    compared.intersection_update(compared_rungs(held(continued), held(resumed)))
    iterations: dict[StateRungName, int] = dict.fromkeys(gaps, 1)
    both = points(due, came)
    if both:
        compared.add("batch")
    batch = shares_gap(both, due.before, ranks)
    if batch is not None:
        gaps["batch"] = batch
        iterations["batch"] = batch.iteration
    found = Found(
        rank=continued.trace.rank,
        gaps=gaps,
        compared=frozenset(compared),
        iterations=iterations,
        marked=continued.marked and resumed.marked,
        frameworks=continued.frameworks,
    )
    drawn = drawers(continued)
    return replace(
        explained([found]),
        other_ranks=OtherRanks(
            ranks=ranks,
            samples=(due.of_first, came.of_first),
            drawn_by=next(iter(drawn.values()), ""),
        ),
    )


def _batches(run: DeepRun) -> Iterator[list[Batch]]:
    """Yield the batches that each rank trained on."""
    for rank in run.ranks:
        yield taken(run.read(rank).seen)


def _state_gaps(
    continued: Side, resumed: Side, ranks: tuple[int, int]
) -> Iterator[tuple[StateRungName, Gap | None]]:
    if not continued.held or not resumed.held:
        return
    was = held(continued)
    now = named_alike(was, held(resumed))
    both = was.weights.keys() & now.weights.keys()
    if not any(_shapes(was.weights[name]) != _shapes(now.weights[name]) for name in both):
        yield "weights", state.weights(was, now, continued, resumed)
        yield "optimizer state", optimizers.optimizer(was, now)
    gap = state.schedule(was, now)
    yield "hyper-parameters", None if _is_scaled(gap, ranks) else gap


def _shapes(fact: object) -> list[object]:
    return [leaf.shape for _, leaf in getattr(fact, "outputs", ())]


def _is_scaled(gap: ScheduleGap | AverageGap | None, ranks: tuple[int, int]) -> bool:
    """Return whether a value was scaled with the number of ranks: a learning rate linearly (Goyal
    et al. 2017, arXiv:1706.02677) or with the square root (Krizhevsky 2014, arXiv:1404.5997), a
    number of iterations inversely.
    """
    if not isinstance(gap, ScheduleGap) or gap.values is None:
        return False
    was, now = gap.values
    if not isinstance(was, (int, float)) or not isinstance(now, (int, float)) or not was:
        return False
    ratio = ranks[1] / ranks[0]
    allowed = (ratio, 1 / ratio, sqrt(ratio))
    return any(isclose(now / was, factor, rel_tol=1e-6) for factor in allowed)
