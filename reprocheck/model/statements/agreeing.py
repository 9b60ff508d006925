"""Rungs without a difference: why nothing was compared, and which generators differ without an
effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class NotCompared(Statement):
    """Why nothing of a rung was compared, or only a part.

    names  depends on the reason: the two hash algorithms; the module whose forward pass a compiled
           function hides; the weights that were not seen before their first update; the generators
           that such weights may have been drawn from
    """

    why: Literal[
        "one rank", "other algorithms", "hidden forward", "unseen weights", "unknown draws"
    ]
    names: tuple[str, ...] = ()
    others_agree: bool = False
    """Other weights were seen, and agree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WithoutEffect(Statement):
    """Generators whose states differ without an effect: those that differed when the weights were
    made, and those that differ but that nothing draws from.
    """

    at_weights: tuple[str, ...]
    unused: tuple[str, ...]
