"""What is kept of the traces of one rank, besides its differences.

The traces of all ranks do not fit into memory together.
"""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.ladder import generators
from reprocheck.ladder.compare import Algorithms
from reprocheck.ladder.finding import Finding
from reprocheck.ladder.forks import shown_by
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.unrecorded_weights import unequal_at_the_start, unseen_weights
from reprocheck.model import RungName
from reprocheck.model.statement import Statement
from reprocheck.trace.deep import DeepTrace


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What was recorded of one rank, and what could not be.

    recorded              rungs on which something could be compared
    algorithms            the hash algorithms of both traces, if they are not the same
    shows_forward         the option that shows a forward pass hidden in a compiled function
    unseen_weights        weights whose first values cannot be compared
    states                whether the state of any generator was recorded
    unequal_at_the_start  generators with differing states from which `unseen_weights` may have been
                          drawn
    unused                generators whose states differ, but that no module draws from before the
                          first difference
    unrecorded            statements on what could not be recorded
    """

    recorded: frozenset[RungName]
    algorithms: Algorithms | None
    shows_forward: str
    unseen_weights: tuple[str, ...]
    states: bool
    unequal_at_the_start: tuple[str, ...]
    unused: tuple[str, ...]
    unrecorded: tuple[Statement | str, ...]


def kept(pair: Pair, first: Finding | None) -> Kept:
    """Return what is kept of a pair of traces, given its first difference."""
    # up to here, a rank shows that its generators agree
    end = pair.last if first is None or first.number < 0 else first.number
    return Kept(
        recorded=pair.recorded,
        algorithms=pair.algorithms if pair.incomparable else None,
        shows_forward=shown_by(pair),
        unseen_weights=tuple(unseen_weights(pair)),
        states=generators.recorded(pair),
        unequal_at_the_start=tuple(unequal_at_the_start(pair)),
        unused=tuple(generators.unused(pair, end)),
        unrecorded=(*_unrecorded(pair.first), *_unrecorded(pair.second)),
    )


def _unrecorded(trace: DeepTrace) -> tuple[Statement | str, ...]:
    places = [": ".join(filter(None, parts)) for parts in trace.unrecorded]
    return (*places, *trace.problems)
