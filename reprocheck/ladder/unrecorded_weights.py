"""Find weights whose first values were not recorded.

Neither their values nor the generators behind them can be compared.
"""

from __future__ import annotations

from itertools import chain

from reprocheck.ladder import generators
from reprocheck.ladder.align import of_run_1
from reprocheck.ladder.pair import Pair


def unseen_weights(pair: Pair) -> list[str]:
    """Return the updated weights whose first values cannot be compared, in order of updates."""
    recorded = {step.seen.place for step in pair.of_kind("weights") if pair.tells(step)}
    recorded |= pair.known_weights
    updates = (step.seen.place for step in pair.of_kind("reduced", "update"))
    # a colon stands in the name of what an optimizer keeps of a weight: `dense.kernel:momentum`
    untold = [place for place in updates if ":" not in place and place not in recorded]
    return list(dict.fromkeys(untold))


def unequal_at_the_start(pair: Pair) -> list[str]:
    """Return the differing generators from which unrecorded weights may have been drawn."""
    if not unseen_weights(pair):
        return []
    looks = of_run_1(pair.of_kind(*generators.LOOKS))
    names = set(chain.from_iterable(look.before for look in looks if look.kind == "found"))
    counts = generators.counted_states(pair)
    untouched = {name for name in names if counts[name] == 1}
    return [name for name in generators.unequal_states(pair, 0) if name not in untouched]
