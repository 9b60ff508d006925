"""Weights whose first values were not recorded: nothing can be said of them, nor of what they were
drawn from.
"""

from __future__ import annotations

from collections import defaultdict

from reprocheck.ladder import generators
from reprocheck.ladder.pair import Pair
from reprocheck.trace.deep import Seen

_OF_WEIGHTS = ("reduced", "update")
_STATE = ":"
"""Stands in the name of what an optimizer keeps of a weight: `dense.kernel:momentum`."""


def unseen_weights(pair: Pair) -> list[str]:
    """The weights that are updated and whose first values cannot be compared, in the order of their
    updates.
    """
    updated = [step.seen.place for step in pair.steps if step.seen.kind in _OF_WEIGHTS]
    of_weights = [place for place in dict.fromkeys(updated) if _STATE not in place]
    firsts = [step for step in pair.steps if step.seen.kind == "weights"]
    # one that only one run has is a difference, and so not unseen
    known = {step.seen.place for step in firsts if not step.both or pair.comparable(step)}
    return [place for place in of_weights if place not in known]


def unequal_at_the_start(pair: Pair) -> list[str]:
    """The generators whose states differ where weights that nobody saw may have been drawn from
    them.
    """
    if not unseen_weights(pair):
        return []
    untouched = _untouched(pair)
    return [name for name in generators.unequal_states(pair, 0) if name not in untouched]


def _untouched(pair: Pair) -> set[str]:
    """Generators that stand, whenever they are looked at in run 1, where they were found: nobody
    drew from them.
    """
    found: set[str] = set()
    states: dict[str, set[str]] = defaultdict(set)
    facts = [step.first for step in pair.steps if step.first is not None]
    for fact in facts:
        if fact.kind == "found":
            found |= fact.before.keys()
        if fact.kind in generators.LOOKS:
            _gather(states, fact)
    return {name for name in found if len(states[name]) == 1}


def _gather(states: dict[str, set[str]], look: Seen) -> None:
    for name, state in look.before.items():
        states[name].add(state)
