"""Rungs without a difference: why nothing was compared, and which generators differ without an
effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class NotCompared(Statement):
    """Why nothing of a rung was compared, or not all of it.

    names  the two hash algorithms; what shows a forward pass that a compiled function hides; the
           weights that were not seen before their first update; the generators that those may have
           been drawn from
    """

    why: Literal[
        "one rank", "other algorithms", "hidden forward", "unseen weights", "unknown draws"
    ]
    names: tuple[str, ...] = ()
    others_agree: bool = False
    """Other weights were seen, and agree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WithoutEffect(Statement):
    """Generators that differed when the weights were made, and others that differ and nobody draws
    from.
    """

    at_weights: tuple[str, ...]
    unused: tuple[str, ...]
