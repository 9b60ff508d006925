"""The rungs that the check itself shows, beside the runs that were recorded again: its environment,
and losses behind their last iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from reprocheck.ladder.agreeing import BY_RECORD
from reprocheck.ladder.drift import classes
from reprocheck.ladder.given import of_the_user
from reprocheck.ladder.sentences import given as in_words
from reprocheck.ladder.sentences import ladder as of_ladder
from reprocheck.model import Check, DeeperPair, Drift, EnvironmentDifference, LossSeries, Rung


def environment(check: Check) -> Rung:
    """What of the environment is not the same in run 2, or else in a later run."""
    of_libraries = [
        one
        for one in check.environment_differences
        if not of_the_user(one.key, one.reference, one.value)
    ]
    of_run_2 = [one for one in of_libraries if one.run == 2]
    different: Sequence[EnvironmentDifference] = of_run_2 or of_libraries
    if check.record.compared:
        acting = filter(_acts, classes(different))
        different = list(chain.from_iterable(group.differences for group in acting))
    if not different:
        known = any(run.environment for run in check.runs)
        return Rung(rung="environment", status=BY_RECORD[known])
    return Rung(
        rung="environment",
        status="differs",
        place=different[0].key,
        detail=in_words.environment(different),
    )


def _acts(group: Drift) -> bool:
    """Whether differences of a class can bear on numbers; source has a rung of its own."""
    return group.expects != "nothing" and group.name != "source"


def later(check: Check, deeper: DeeperPair, *, only_here: bool) -> Rung:
    """Losses beyond the iterations that were recorded deeply, as the first pair has them;
    `only_here`: nothing differs up to there.
    """
    pairs = _losses_of_both(check)
    recorded = any(min(len(one), len(other)) > deeper.iterations for one, other in pairs)
    found = [_unequal(one, other, deeper.iterations + 1) for one, other in pairs]
    unequal = min((iteration for iteration in found if iteration is not None), default=None)
    if unequal is None:
        return Rung(rung="later", status=BY_RECORD[recorded])
    detail = of_ladder.later(unequal)
    if only_here:
        detail = of_ladder.only_later(unequal, deeper.iterations)
    return Rung(rung="later", status="differs", iteration=unequal, place="loss", detail=detail)


def _losses_of_both(check: Check) -> list[tuple[LossSeries, LossSeries]]:
    """The losses of runs 1 and 2, rank by rank."""
    runs = [{trace.rank: trace.losses for trace in run.traces} for run in check.runs[:2]]
    if len(runs) < 2:
        return []
    one, other = runs
    return [(losses, other[rank]) for rank, losses in one.items() if rank in other]


def _unequal(one: LossSeries, other: LossSeries, start: int) -> int | None:
    """The first iteration from `start` on whose losses differ in any bit."""
    iterations = range(start, min(len(one), len(other)) + 1)
    unequal = (n for n in iterations if one.losses(n).tobytes() != other.losses(n).tobytes())
    return next(unequal, None)
