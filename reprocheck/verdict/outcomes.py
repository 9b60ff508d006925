"""Treat the runs as a sample.

Which runs gave the same losses bit for bit, how far losses spread, and which share of differing
runs the sample excludes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter

from reprocheck.model import LossStatistics, OneIsLonger, OutcomeGroup, Outcomes, Run
from reprocheck.verdict.series import Unequal, first_unequal

MOST_ITERATIONS = 1000
_RISK = 0.05


def outcomes(runs: Sequence[Run]) -> Outcomes:
    """Group runs whose losses are equal in every bit, and bound the share of runs that differ."""
    if not any(map(attrgetter("traces"), runs)):
        return Outcomes(groups=(), bound=None)
    groups: list[list[Run]] = []
    for run in runs:
        alike = (group for group in groups if same_bits(run, group[0]))
        group = next(alike, [])
        if not group:
            groups.append(group)
        group.append(run)
    # that of run 1 is the first
    others = len(runs) - 1
    different = others + 1 - len(groups[0])
    bound = None
    if others:
        bound = upper_bound(different, others)
    return Outcomes(
        groups=tuple(OutcomeGroup(runs=tuple(run.number for run in group)) for group in groups),
        bound=bound,
        longer=_longer(runs),
        statistics=_statistics(runs),
    )


def upper_bound(different: int, others: int) -> float:
    """Return the exact one-sided 95 % bound on the share of runs that differ from run 1.

    The bound is that of Clopper and Pearson.

    different  how many of the later runs differ from run 1
    others     how many later runs were made
    """
    if different >= others:
        return 1.0
    if different == 0:
        return 1.0 - float(_RISK ** (1 / others))
    low, high = different / others, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        at_most = math.fsum(
            math.comb(others, k) * middle**k * (1 - middle) ** (others - k)
            for k in range(different + 1)
        )
        if at_most > _RISK:
            low = middle
        else:
            high = middle
    return high


def same_bits(run: Run, other: Run) -> bool:
    """Return whether two runs have the same ranks and each rank the same losses, bit for bit."""
    same_ranks = run.by_rank.keys() == other.by_rank.keys()
    return same_ranks and not any(_unequal(run, other))


def _unequal(run: Run, other: Run) -> Iterator[Unequal]:
    """Yield, for each common rank, the first iteration that differs in any bit."""
    own, others = run.by_rank, other.by_rank
    shared = own.keys() & others.keys()
    differences = (first_unequal(own[rank].losses, others[rank].losses) for rank in shared)
    return filter(None, differences)


def _longer(runs: Sequence[Run]) -> OneIsLonger | None:
    """Return the lengths of two runs whose losses are equal as far as the shorter goes."""
    if len(runs) != 2:
        return None
    first, second = runs
    if first.by_rank.keys() != second.by_rank.keys():
        return None
    by_their_ends = {unequal.ends for unequal in _unequal(second, first)}
    if by_their_ends != {True}:
        return None
    ended = (run.number for run in runs if not run.record.ended_as_planned)
    return OneIsLonger(first=first.longest, second=second.longest, ended=next(ended, 0))


def _statistics(runs: Sequence[Run]) -> tuple[LossStatistics, ...]:
    """Return mean and standard deviation of the loss, for each common rank and iteration."""
    by_rank = [run.by_rank for run in runs]
    if len(runs) < 2:
        return ()
    rows = []
    for rank in sorted(set.intersection(*map(set, by_rank))):
        series = [traces[rank].losses for traces in by_rank]
        shortest = min(MOST_ITERATIONS, *map(len, series))
        for iteration in range(1, shortest + 1):
            sums = [sum(losses.losses(iteration)) for losses in series]
            mean, deviation = _mean_and_deviation(sums)
            rows.append(
                LossStatistics(
                    iteration=iteration, rank=rank, mean=mean, standard_deviation=deviation
                )
            )
    return tuple(rows)


def _mean_and_deviation(sums: list[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation; both NaN if a sum is not finite."""
    if not all(map(math.isfinite, sums)):
        return math.nan, math.nan
    if len(set(sums)) == 1:
        return sums[0], 0.0
    mean = math.fsum(value / len(sums) for value in sums)
    squares = math.fsum((value - mean) * (value - mean) for value in sums)
    return mean, math.sqrt(squares / (len(sums) - 1))
