"""The rungs on which no difference stands: the runs agree there, or nothing was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from reprocheck.ladder import generators
from reprocheck.ladder.compiled import shown_by
from reprocheck.ladder.rank import Rank
from reprocheck.ladder.sentences import agreeing as in_words
from reprocheck.ladder.unseen import unequal_at_the_start, unseen_weights
from reprocheck.model import Rung, RungName, RungStatus
from reprocheck.model.evidence import generators_of

BY_RECORD: Mapping[bool, RungStatus] = {True: "equal", False: "not_recorded"}
"""The status of a rung without a difference, by whether anything of it was compared."""


def agreeing(name: RungName, ranks: Sequence[Rank]) -> Rung:
    """A rung on which no rank has a difference."""
    if name == "RNG state":
        return _states(ranks)
    if name == "initial weights":
        return _weights(ranks)
    return _compared(name, ranks)


def _compared(name: RungName, ranks: Sequence[Rank]) -> Rung:
    """Equal, if anything of it was recorded."""
    if any(name in rank.pair.recorded for rank in ranks):
        return Rung(rung=name, status="equal")
    return Rung(rung=name, status="not_recorded", detail=_why_not(name, ranks))


def _weights(ranks: Sequence[Rank]) -> Rung:
    """The initial weights, which are not all known where one was not seen before its first
    update.
    """
    compared = _compared("initial weights", ranks)
    unseen = dict.fromkeys(chain.from_iterable(unseen_weights(rank.pair) for rank in ranks))
    if not unseen:
        return compared
    others_agree = compared.status == "equal"
    detail = in_words.unseen_weights(list(unseen), others_agree=others_agree)
    why = _why_not("initial weights", ranks)
    return Rung(rung="initial weights", status="not_recorded", detail=why or detail)


def _why_not(name: RungName, ranks: Sequence[Rank]) -> str:
    """Why nothing of a rung could be compared, as far as that is known."""
    if name == "reduced gradient" and len(ranks) == 1:
        return in_words.ONE_RANK
    incomparable = next((rank.pair for rank in ranks if rank.pair.incomparable), None)
    if incomparable is not None:
        return in_words.incomparable(incomparable)
    if name != "forward":
        return ""
    hidden = filter(None, (shown_by(rank.pair) for rank in ranks))
    return next(map(in_words.compiled, hidden), "")


def _states(ranks: Sequence[Rank]) -> Rung:
    """The rung of the generators, where nothing draws from one whose state differs."""
    pairs = [rank.pair for rank in ranks]
    if not any(map(generators.recorded, pairs)):
        return Rung(rung="RNG state", status="not_recorded")
    hidden = sorted(set(chain.from_iterable(map(unequal_at_the_start, pairs))))
    if hidden:
        detail = in_words.unknown_draws(hidden)
        return Rung(rung="RNG state", status="not_recorded", detail=detail)
    last = max(pair.last for pair in pairs)
    unused = sorted(
        set(chain.from_iterable(generators.unused(rank.pair, _end(rank, last)) for rank in ranks))
    )
    said = (in_words.unequal_at_weights(_drawn_for_weights(ranks)), in_words.unused(unused))
    return Rung(
        rung="RNG state",
        status="equal",
        detail=" ".join(filter(None, said)),
        unused_generators=tuple(unused),
    )


def _end(rank: Rank, last: int) -> int:
    """The step up to which a rank shows that its generators agree."""
    first = rank.first
    if first is None or first.number < 0:
        return last
    return first.number


def _drawn_for_weights(ranks: Sequence[Rank]) -> tuple[str, ...]:
    """The generators that stood otherwise when the weights of the first such rank were made.

    The rung of the generators begins with the first iteration; this belongs to the weights.
    """
    weights = [rank.findings.get("initial weights") for rank in ranks]
    names = (generators_of(one.evidence).names for one in weights if one is not None)
    return next(filter(None, names), ())
