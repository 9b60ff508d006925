"""The rungs without a difference: the runs agree there, or nothing was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter

from reprocheck.ladder.compare import Algorithms
from reprocheck.ladder.rank import Rank
from reprocheck.ladder.trace_extract import Kept
from reprocheck.model import Rung, RungName, RungStatus
from reprocheck.model.evidence import generators_of
from reprocheck.model.statements.ladder import NotCompared, WithoutEffect

BY_RECORD: Mapping[bool, RungStatus] = {True: "equal", False: "not_recorded"}
"""The status of a rung without a difference, by whether anything of it was compared."""


def agreeing(name: RungName, ranks: Sequence[Rank]) -> Rung:
    """Return a rung on which no rank has a difference."""
    kept = [rank.kept for rank in ranks]
    if name == "RNG state":
        # The rung of the generators begins with the first iteration; what the weights were drawn
        # from belongs to the weights.
        weights = [rank.findings.get("initial weights") for rank in ranks]
        names = (generators_of(one.evidence).names for one in weights if one is not None)
        return _states(kept, next(filter(None, names), ()))
    if name == "initial weights":
        compared = _compared("initial weights", kept)
        unseen = dict.fromkeys(chain.from_iterable(one.unseen_weights for one in kept))
        if not unseen:
            return compared
        why = _why_not("initial weights", kept) or NotCompared(
            why="unseen weights", names=tuple(unseen), others_agree=compared.status == "equal"
        )
        return Rung(rung="initial weights", status="not_recorded", statement=why)
    return _compared(name, kept)


def _compared(name: RungName, kept: Sequence[Kept]) -> Rung:
    """Return a rung as equal if anything on it was recorded, else as not recorded."""
    if any(name in one.recorded for one in kept):
        return Rung(rung=name, status="equal")
    return Rung(rung=name, status="not_recorded", statement=_why_not(name, kept))


def _why_not(name: RungName, kept: Sequence[Kept]) -> NotCompared | None:
    """Return why nothing on a rung could be compared, as far as that is known."""
    if (name, len(kept)) == ("reduced gradient", 1):
        return NotCompared(why="one rank")
    algorithms = next(filter(None, map(attrgetter("algorithms"), kept)), None)
    if algorithms is not None:
        return other_algorithms(algorithms)
    if name != "forward":
        return None
    shown = filter(None, map(attrgetter("shows_forward"), kept))
    return next((NotCompared(why="hidden forward", names=(by,)) for by in shown), None)


def other_algorithms(algorithms: Algorithms) -> NotCompared:
    """Return the statement that two traces hash with different algorithms."""
    return NotCompared(why="other algorithms", names=(algorithms.first, algorithms.second))


def _states(kept: Sequence[Kept], for_weights: Sequence[str]) -> Rung:
    """Return the rung of the generators if nothing draws from a generator whose state differs.

    `for_weights` names the generators whose states differed when weights were made.
    """
    if not any(map(attrgetter("states"), kept)):
        return Rung(rung="RNG state", status="not_recorded")
    hidden = sorted(set(chain.from_iterable(one.unequal_at_the_start for one in kept)))
    if hidden:
        statement = NotCompared(why="unknown draws", names=tuple(hidden))
        return Rung(rung="RNG state", status="not_recorded", statement=statement)
    unused = tuple(sorted(set(chain.from_iterable(one.unused for one in kept))))
    without_effect = None
    if for_weights or unused:
        without_effect = WithoutEffect(at_weights=tuple(for_weights), unused=unused)
    return Rung(
        rung="RNG state", status="equal", statement=without_effect, unused_generators=unused
    )
