"""How many runs under a control must agree before it is more than luck.

The model is the most favourable one to luck: a control without any effect, and runs that each give
the usual outcome with some unknown probability and an outcome of their own otherwise. Whatever that
probability is, what was seen must be rare enough, among searches: they are made only where the
first two runs differ.

Where the runs that agree are unlike every run as it is, luck has to explain that, too: each of
those was an odd one. Most favourable to it are then either odd runs as above, or outcomes that are
all as likely.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, filterfalse

from reprocheck.model import Check
from reprocheck.model.controls import is_fix
from reprocheck.model.statements.search import Sample
from reprocheck.rules import likely
from reprocheck.rules.likely import is_vague
from reprocheck.search import order
from reprocheck.search.arm_runs import Judged
from reprocheck.search.lines import lines_of
from reprocheck.search.request import PAIR

MOST = 60
"""Runs that a search would ask for at most: above, it says only that it takes more."""
CHOICE_AND_PROOF = 2
"""Of runs that agree under a set where some agree without it, half have chosen the set."""
_RISK = 0.05
_STEPS = 400
_SHARES = tuple(step / _STEPS for step in range(1, _STEPS + 1))


def sample(
    outcomes: Sequence[Sequence[Hashable]],
    *,
    carried: bool = False,
    blind: Collection[Hashable] = (),
) -> Sample:
    """Return how the outcomes of runs are spread; a pair is run 1 and run 2 of the same start.

    If the first run of every pair gives the same outcome and the runs after it give others, each
    run depends on the run before it: the difference is not intermittent, and all outcomes count as
    different. If files are `carried` from run to run, the outcomes need not be the same in every
    pair. Outcomes that are `blind`, such as NaN after an overflow, look alike without being the
    same: each counts as an outcome of its own, since no control is confirmed by runs that agree so.
    """
    sizes = Counter(chain.from_iterable(outcomes))
    runs = sizes.total()
    if _follow(outcomes, carried=carried):
        second = len({pair[1] for pair in outcomes}) == 1
        return Sample(runs=runs, odd=runs - 1, pairs=len(outcomes), second=second, carried=carried)
    unknown = 0
    for outcome in set(blind):
        unknown += sizes[outcome]
        sizes[outcome] = min(1, sizes[outcome])
    return Sample(runs=runs, odd=runs - max(sizes.values(), default=0), blind=unknown)


def _follow(outcomes: Sequence[Sequence[Hashable]], *, carried: bool) -> bool:
    """Return whether each run of a pair depends on the run before it."""
    if min(map(len, outcomes), default=0) < PAIR or len(outcomes) < PAIR:
        return False
    firsts = {pair[0] for pair in outcomes}
    if len(firsts) > 1 or not firsts.isdisjoint(chain.from_iterable(p[1:] for p in outcomes)):
        return False
    if carried:
        # The first of each pair alone starts from the same files.
        return True
    return len(set(map(tuple, outcomes))) == 1 and len(set(outcomes[0])) == len(outcomes[0])


def luck(seen: Sample, agreeing: int) -> float:
    """Return the largest probability, over all shares of odd runs, that luck explains it.

    What was seen is explained.

    That is a sample at least as mixed as this one, and after it so many runs that agree, given that
    the first two runs differ. A run is odd if its outcome is not the most frequent one.
    """
    if seen.unlike:
        return max(_luck_unlike(seen.runs, agreeing))
    return max(_luck_at(seen, agreeing, share) for share in _SHARES)


def _luck_unlike(runs: int, agreeing: int) -> Iterator[float]:
    """Yield the probability that so many runs all differ, and so many later ones agree.

    They agree on a new outcome.

    One probability assumes a share of odd runs, the other a number of equally likely outcomes.
    """
    for share in _SHARES:
        yield share**runs / (1 - (1 - share) ** 2) * (1 - share) ** agreeing
    # With more outcomes than that, runs agree more seldom by far than they differ.
    for outcomes in range(runs + 1, runs**2 + PAIR):
        all_others = math.prod(1 - made / outcomes for made in range(PAIR, runs + 1))
        yield all_others * (1 / outcomes) ** (agreeing - 1)


def _luck_at(seen: Sample, agreeing: int, share: float) -> float:
    """Return the probability of luck if each run is odd with the given probability."""
    runs = seen.runs
    at_least_odd = math.fsum(
        math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(seen.odd, runs + 1)
    )
    first_two_differ = 1 - (1 - share) ** 2
    return at_least_odd / first_two_differ * (1 - share) ** agreeing


@cache
def needed(seen: Sample, risk: float) -> int:
    """Return how many runs, at least two, must agree for the risk to be no larger than allowed.

    A number above `MOST` if more are needed.
    """
    if not seen.odd:
        return MOST + 1
    return next((runs for runs in range(PAIR, MOST + 1) if luck(seen, runs) <= risk), MOST + 1)


def bound(runs: int) -> float:
    """Return the exact one-sided 95 % bound on the share of runs that differ from run 1.

    If none of `runs` did.
    """
    if runs < 2:
        return 1.0
    return 1.0 - float(_RISK ** (1 / (runs - 1)))


SHOWN, FITTING, UNSPECIFIC = 0.1, 0.05, 0.02
"""The risk of luck that is taken: where the ladder shows a cause that the set removes, or a control
of what is new in each start acted on the line of one, or the scan is sure of that very line and it
ran; where a line of the user's fits one; elsewhere.
"""
_INEXACT = 2
"""More runs where they agree up to rounding alone."""


def wanted(
    check: Check, seen: Sample, names: Sequence[str], under: Judged | None, *, exact: bool
) -> int:
    """Return how many runs must agree under a set of controls.

    `under` holds the runs made so far.
    """
    sure: frozenset[tuple[str, str]] = frozenset()
    if seen.unlike:
        sure = _acted_or_sure(check, names, under)
    risk = min(map(partial(_risk, check, sure), names))
    if seen.intermittent:
        # Those that chose the set among many are no proof: as many again are.
        return CHOICE_AND_PROOF * needed(seen, min(risk, FITTING))
    runs = needed(seen, risk)
    if not exact:
        runs += _INEXACT
    return runs


def _acted_or_sure(
    check: Check, names: Sequence[str], under: Judged | None
) -> frozenset[tuple[str, str]]:
    """Return pairs of a control and a line at which it acted, or the scan is sure.

    The line is `file:line`.
    """
    found = ((name, line) for name in names for line in order.sure_lines(check, name))
    if under is None:
        return frozenset(found)
    return under.acted_at.union(found)


def speaks_for(check: Check, name: str) -> bool:
    """Return whether the ladder, a line of the user's code or the scan suggests a control."""
    return _risk(check, frozenset(), name) > UNSPECIFIC


def _risk(check: Check, sure: frozenset[tuple[str, str]], name: str) -> float:
    """Return the allowed risk of luck.

    The fewer signs the runs and the source give, the smaller.
    """
    if is_fix(name):
        shown = any(
            f"{one.code} {one.at}" == name and one.confidence == "observed" for one in check.causes
        )
        return SHOWN if shown else FITTING
    known = filterfalse(is_vague, check.causes)
    removed = [one for one in known if likely.confirms(name, one.code)]
    if any(cause.confidence == "observed" for cause in removed):
        return SHOWN
    lines = lines_of(removed)
    if any((name, line) in sure for line in lines):
        return SHOWN
    if lines or order.lines_that_ran(check, name):
        return FITTING
    return UNSPECIFIC
