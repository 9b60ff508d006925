"""Decides whether chance may repeat something: below one in a million it may not."""

from __future__ import annotations

from collections.abc import Collection
from math import log2

_BITS = 20.0
"""What has so many bits, chance repeats in one of a million cases."""
_DECISION = 2
"""Numbers of 32 bits that a single decision takes, such as whether a layer is left out."""


def are_too_many(samples: int, kinds: int) -> bool:
    """Return whether samples in a row, drawn from so many kinds, are too many for chance."""
    return kinds > 1 and samples * log2(kinds) > _BITS


def is_noise(amounts: Collection[int], most: int = _DECISION) -> bool:
    """Return whether draws in a row are noise, and no decision that all may share.

    amounts  how many numbers each of the draws took, 0 where that is not known
    most     numbers that may be shared in one draw
    """
    return bool(amounts) and min(amounts) > most and sum(amounts) > _BITS
