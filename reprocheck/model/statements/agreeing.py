"""Rungs without a difference: why nothing was compared, and which generators differ without an
effect.
"""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.statement import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class OneRank(Statement):
    """Nothing is reduced."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherAlgorithms(Statement):
    """The traces hash with different algorithms."""

    first: str
    second: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HiddenForward(Statement):
    """A compiled function hides the forward pass."""

    shown_by: str
    """What shows it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnseenWeights(Statement):
    """Weights that were not seen before their first update."""

    names: tuple[str, ...]
    others_agree: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class UnknownDraws(Statement):
    """Generators that differ, and that weights whose first values nobody saw may have been drawn
    from.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class WithoutEffect(Statement):
    """Generators that differed when the weights were made, and others that differ and nobody draws
    from.
    """

    at_weights: tuple[str, ...]
    unused: tuple[str, ...]
