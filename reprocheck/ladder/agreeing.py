"""The rungs on which no difference stands: the runs agree there, or nothing was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter

from reprocheck.ladder.kept import Kept
from reprocheck.ladder.rank import Rank
from reprocheck.ladder.sentences import agreeing as in_words
from reprocheck.language import sentences, tr
from reprocheck.model import Rung, RungName, RungStatus
from reprocheck.model.evidence import generators_of

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
        return _weights(kept)
    return _compared(name, kept)


def _compared(name: RungName, kept: Sequence[Kept]) -> Rung:
    """Equal, if anything of it was recorded."""
    if any(name in one.recorded for one in kept):
        return Rung(rung=name, status="equal")
    return Rung(rung=name, status="not_recorded", detail=_why_not(name, kept))


def _weights(kept: Sequence[Kept]) -> Rung:
    """Return the initial weights, which are not all known where one was not seen before its first
    update.
    """
    compared = _compared("initial weights", kept)
    unseen = dict.fromkeys(chain.from_iterable(one.unseen_weights for one in kept))
    if not unseen:
        return compared
    detail = in_words.unseen_weights(list(unseen), others_agree=compared.status == "equal")
    why = _why_not("initial weights", kept)
    return Rung(rung="initial weights", status="not_recorded", detail=why or detail)


def _why_not(name: RungName, kept: Sequence[Kept]) -> str:
    """Return why nothing of a rung could be compared, as far as that is known."""
    if (name, len(kept)) == ("reduced gradient", 1):
        return tr(in_words.ONE_RANK)
    algorithms = next(filter(None, map(attrgetter("algorithms"), kept)), None)
    if algorithms is not None:
        return in_words.incomparable(algorithms)
    if name != "forward":
        return ""
    shown = filter(None, map(attrgetter("shows_forward"), kept))
    return next(map(in_words.compiled, shown), "")


def _states(kept: Sequence[Kept], for_weights: Sequence[str]) -> Rung:
    """Return the rung of the generators, where nothing draws from one whose state differs;
    `for_weights`: those that stood otherwise when weights were made.
    """
    if not any(map(attrgetter("states"), kept)):
        return Rung(rung="RNG state", status="not_recorded")
    hidden = sorted(set(chain.from_iterable(one.unequal_at_the_start for one in kept)))
    if hidden:
        return Rung(rung="RNG state", status="not_recorded", detail=in_words.unknown_draws(hidden))
    unused = sorted(set(chain.from_iterable(one.unused for one in kept)))
    said = (in_words.unequal_at_weights(for_weights), in_words.unused(unused))
    return Rung(
        rung="RNG state",
        status="equal",
        detail=sentences(*said),
        unused_generators=tuple(unused),
    )
