"""Hyper-parameters and initial weights: what was found out of the first difference there."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.evidence import WeightsDiffer
from reprocheck.model.statements.difference import Fact, Unexplained
from reprocheck.model.statements.generators import Seeding

Shapes = tuple[tuple[int, ...], tuple[int, ...]]
"""Of a tensor in both runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherHyperParameter(Unexplained):
    """A value of an optimizer differs at an update."""

    optimizer: str
    iteration: int
    name: str
    values: tuple[object, object] | None
    """Its values in both runs, where they are small."""
    others: tuple[str, ...]
    """Others that differ there, too."""
    other_weights: bool
    """It is the list of the weights that the optimizer holds."""
    all_before_agrees: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherWeights(Unexplained):
    """A parameter or buffer differs before the first iteration."""

    evidence: WeightsDiffer
    weight: Fact
    line: str
    """The line that made it, `filled` the one that wrote to it last."""
    filled: str
    seeded: tuple[Seeding, ...]
    """How generators were last seeded before it was made."""
    later: tuple[Seeding, ...]
    """How those that it was drawn from were seeded afterwards."""
    shapes: Shapes | None
    """Its shapes in both runs, where they are not the same."""
    differing: int
    compared: int
    """Parameters and buffers that differ, and all that were recorded."""
