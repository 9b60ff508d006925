"""Whether a check took more than its target allows, by `allow` in the settings.

No two runs take the same time, so what is beyond the limit has to be beyond noise, too: the passes
before in the same environment say how much a measure varies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

from reprocheck.suite.changes.shifts import CLIP, REFERENCE, shift
from reprocheck.suite.measures import EVERY

ALPHA = 0.01
"""How often a night may be marked as shifted although nothing did, two-sided."""
LEAST_SPREAD = 0.01
"""Relative: numbers that are closer than a percent are the same."""
FEW = 5
"""Fewer nights say nothing of how a number varies."""
_TO_DEVIATION = 1 / NormalDist().inv_cdf(0.75)


@dataclass(frozen=True, kw_only=True, slots=True)
class Exceeded:
    """Say that a measure is further from what it was than the target allows.

    before, after  what it was, and what it is
    limit          how far it may be, relative
    """

    name: str
    before: float
    after: float
    limit: float


def exceeded(
    limits: Mapping[str, float],
    now: Mapping[str, float],
    earlier: Sequence[Mapping[str, float]],
    accepted: Mapping[str, float],
) -> Exceeded | None:
    """Return the first measure that is beyond its limit, and beyond how it varies.

    now       the measures of the check
    earlier   those of the passes before it in the same environment, oldest first
    accepted  those of the accepted check; empty where it is not known: the median of the passes
              before stands in for it
    """
    for name, limit in limits.items():
        values = [one[name] for one in earlier[-REFERENCE:] if one.get(name, 0.0) > 0]
        before = accepted.get(name) or (median(values) if values else 0.0)
        after = now.get(name, 0.0)
        if before > 0 and after > 0 and _is_beyond(name, limit, before, [*values, after]):
            return Exceeded(name=name, before=before, after=after, limit=limit)
    return None


def _is_beyond(name: str, limit: float, before: float, values: Sequence[float]) -> bool:
    """Return whether the last value is beyond the limit, and no noise.

    It is no noise if the values before it do not vary as much, or the last nights are all on
    another level.
    """
    *logarithms, now = map(math.log, values)
    distance = now - math.log(before)
    if name not in EVERY:
        distance = abs(distance)
    if distance <= math.log1p(limit):
        return False
    if len(logarithms) < FEW:
        return True
    middle = median(logarithms)
    spread = median(abs(one - middle) for one in logarithms) * _TO_DEVIATION
    if abs(now - middle) > CLIP * max(LEAST_SPREAD, spread):
        return True
    return shift([*logarithms, now], alpha=ALPHA, spread=LEAST_SPREAD) is not None
