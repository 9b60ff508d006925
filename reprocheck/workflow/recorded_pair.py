"""Take what the runs of a check recorded at level `module`, if that explains it.

And whether that is to explain the check.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter

from reprocheck.model import Check, DeeperPair, Run
from reprocheck.settings import DEEPER

ENDED_EARLY = ("script_failed", "timed_out")
"""Verdicts on runs of which deeper ones would say no more."""


def own_pair(check: Check) -> DeeperPair | None:
    """Return run 1 and the run that differs from it first, as a pair recorded at level `module`.

    None if a rank of either run was not recorded at that level from the start.
    """
    if len(check.runs) < 2:
        return None
    pair = (check.runs[0], check.differing_run)
    iterations = min(map(recorded_deeply, pair))
    if not iterations:
        return None
    runs = tuple(run.record for run in pair)
    return DeeperPair(level="module", iterations=iterations, runs=runs, of_check=True)


def recorded_deeply(run: Run) -> int:
    """Return how many iterations all ranks of a run recorded at level `module`."""
    return min(map(attrgetter("deep"), run.traces), default=0)


def explains(check: Check) -> DeeperPair | None:
    """Return the runs of the check as a pair, if they recorded the first difference.

    If an explanation is wanted, and they recorded it deeply.

    For two separate recordings the pair is always used, because nothing further can be recorded.
    """
    pair = own_pair(check)
    if pair is None or check.record.compared:
        return pair
    series = check.verdict.failing_series(check.record.fail_on)
    if series is not None and series.unequal_from < pair.iterations:
        # what an evaluation behind an update calls is recorded in the iteration after it
        return pair
    first = check.verdict.bitwise.first_iteration or 0
    if first <= pair.iterations and is_to_be_explained(check):
        return pair
    return None


def is_to_be_explained(check: Check) -> bool:
    """Return whether a deeper level of recording is asked for, or the losses differ."""
    if check.verdict.verdict in ENDED_EARLY:
        return False
    return check.record.setting("level") in DEEPER or differs(check)


def differs(check: Check) -> bool:
    """Return whether the losses differ in a way that wants an explanation."""
    reasons = (
        check.verdict.fails_by_losses,
        diverges_later(check),
        differs_in_bits(check),
        differs_beside_not_finite(check),
    )
    return any(reasons)


def diverges_later(check: Check) -> bool:
    """Return whether both checks pass, and a later loss is outside the tolerance.

    The forward and the backward check.
    """
    divergence = check.verdict.first_divergence
    if check.verdict.verdict != "reproducible" or divergence is None:
        return False
    return divergence.value is not None


def differs_in_bits(check: Check) -> bool:
    """Return whether a search was asked for, and losses differ within the tolerance."""
    verdict = check.verdict
    within = verdict.verdict == "reproducible" and verdict.bitwise.equal is False
    return check.record.searched and within and not verdict.bitwise.one_is_longer


def differs_beside_not_finite(check: Check) -> bool:
    """Return whether the check is undecided as a loss is not finite, and losses differ.

    Uninitialized memory, for example, has that effect.
    """
    if check.verdict.verdict != "inconclusive" or not check.not_finite:
        return False
    first = check.verdict.bitwise.first_iteration
    return first is not None and first <= last_checked(check)


def last_checked(check: Check) -> int:
    """Return the last iteration of the forward and the backward check."""
    parts = chain.from_iterable((trace.forward, trace.backward) for trace in check.traces)
    return max((part.iteration for part in filter(None, parts)), default=0)
