"""How many runs under a control must agree before it is more than luck.

The model is the most favourable one to luck: a control without any effect, and runs that each give
the usual outcome with some unknown probability and an outcome of their own otherwise. Whatever that
probability is, what was seen must be rare enough, among searches: they are made only where the
first two runs differ.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cache

_RISK = 0.05
_STEPS = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """Runs as they are: how many, and how many of them do not have the most frequent outcome.

    blind   how many have an outcome that says nothing of agreement: each counts as one of its own
    """

    runs: int
    odd: int
    blind: int = 0

    @property
    def intermittent(self) -> bool:
        """Whether some of them agree with each other."""
        return self.odd < self.runs - 1


def sample(
    outcomes: Sequence[Sequence[Hashable]],
    *,
    carried: bool = False,
    blind: Collection[Hashable] = (),
) -> Sample:
    """The outcomes of runs, pair by pair (of the check, and each that was recorded again from the
    same start).

    Where the first run of every pair gives the same outcome and those after it others, each run
    follows from the one before it: nothing comes and goes there, and they count as all different.
    What they give need not be the same in every pair where files are `carried` from run to run.
    Outcomes that are `blind` look alike without being the same, as an overflow does: each counts as
    one of its own, since no control is confirmed by runs that agree so.
    """
    every = [outcome for pair in outcomes for outcome in pair]
    alike = all(
        list(pair) == list(outcomes[0]) or (carried and pair[:1] == outcomes[0][:1])
        for pair in outcomes
    )
    if len(outcomes) > 1 and alike and all(len(set(pair)) == len(pair) for pair in outcomes):
        return Sample(runs=len(every), odd=max(0, len(every) - 1))
    sizes = [1 if outcome in blind else every.count(outcome) for outcome in set(every)]
    unknown = sum(every.count(outcome) for outcome in set(blind))
    return Sample(runs=len(every), odd=len(every) - max(sizes, default=0), blind=unknown)


def luck(seen: Sample, agreeing: int) -> float:
    """The largest probability, over all shares of odd runs, of a sample at least as mixed and of so
    many runs that agree after it.

    Given that the first two runs differ.
    """
    shares = (step / _STEPS for step in range(1, _STEPS + 1))
    return max(
        _at_least(seen.odd, seen.runs, share) / (1 - (1 - share) ** 2) * (1 - share) ** agreeing
        for share in shares
    )


@cache
def needed(seen: Sample, risk: float, *, most: int = 60) -> int:
    """The number of runs that must agree for the risk to be no larger, two at least; one above
    `most` where it takes more.
    """
    if not seen.odd:
        return most + 1
    return next((runs for runs in range(2, most + 1) if luck(seen, runs) <= risk), most + 1)


def bound(runs: int) -> float:
    """Exact one-sided 95 % bound on the share of runs that differ from the first, when none of
    `runs` did.
    """
    return 1.0 - float(_RISK ** (1 / (runs - 1))) if runs > 1 else 1.0


def _at_least(odd: int, runs: int, share: float) -> float:
    return math.fsum(
        math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(odd, runs + 1)
    )
