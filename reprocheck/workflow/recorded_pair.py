"""What the runs of a check hold of level `module` themselves, and whether they are to be explained
by it.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter

from reprocheck.model import Check, DeeperPair, Run
from reprocheck.settings import DEEPER

ENDED_EARLY = ("script_failed", "timed_out")
"""Verdicts on runs of which deeper ones would say no more."""


def own_pair(check: Check) -> DeeperPair | None:
    """Run 1 and the run that differs from it first, as far as both were recorded at level `module`
    from the start; None where one of their ranks was not.
    """
    if len(check.runs) < 2:
        return None
    pair = (check.runs[0], _differing_run(check))
    iterations = min(map(recorded_deeply, pair))
    if not iterations:
        return None
    runs = tuple(run.record for run in pair)
    return DeeperPair(level="module", iterations=iterations, runs=runs, of_check=True)


def recorded_deeply(run: Run) -> int:
    """Return the iterations that all ranks of a run recorded at level `module`, too."""
    return min(map(attrgetter("deep"), run.traces), default=0)


def explains(check: Check) -> DeeperPair | None:
    """Return the runs of the check as a pair, where the ladder is wanted and they hold the first
    difference. Of two recordings it always is, and nothing further can be recorded.
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
    """Return whether a deeper level is asked for, or the check failed."""
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
    """Return whether both checks pass and a loss of a later iteration is outside the tolerance."""
    divergence = check.verdict.first_divergence
    if check.verdict.verdict != "reproducible" or divergence is None:
        return False
    return divergence.value is not None


def differs_in_bits(check: Check) -> bool:
    """Return whether a search was asked for and the losses differ within the tolerance alone."""
    verdict = check.verdict
    within = verdict.verdict == "reproducible" and verdict.bitwise.equal is False
    return check.record.searched and within and not verdict.bitwise.one_is_longer


def differs_beside_not_finite(check: Check) -> bool:
    """Return whether the check is inconclusive because of a loss that is not finite while losses
    differ: so does memory that nobody filled.
    """
    if check.verdict.verdict != "inconclusive" or not check.not_finite:
        return False
    first = check.verdict.bitwise.first_iteration
    return first is not None and first <= last_checked(check)


def last_checked(check: Check) -> int:
    """Return the last iteration that one of the two checks took."""
    parts = chain.from_iterable((trace.forward, trace.backward) for trace in check.traces)
    return max((part.iteration for part in filter(None, parts)), default=0)


def _differing_run(check: Check) -> Run:
    """Return the run whose losses differ from those of run 1 first, else the series that makes the
    check fail; run 2 where none do.
    """
    verdict = check.verdict
    failed = [row.run for row in verdict.comparisons if row.passed is False]
    later = map(attrgetter("run"), filter(None, (verdict.first_divergence,)))
    # the first group is that of run 1
    others = chain.from_iterable(map(attrgetter("runs"), verdict.outcomes.groups[1:]))
    series = filter(None, (verdict.failing_series(check.record.fail_on),))
    reported = map(attrgetter("first_outside.run"), series)
    number = next(chain(failed, later, others, reported), 2)
    return next((run for run in check.runs[1:] if run.number == number), check.runs[1])
