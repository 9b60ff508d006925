"""The backward pass and the update: what was found out of the first difference there."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.evidence import (
    ChangedAfterBackward,
    ReducedDiffers,
    UpdateDiffers,
    WeightWritten,
)
from reprocheck.model.statements.difference import Fact, FirstDifference


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputGradient(FirstDifference):
    """The gradient of the output of a module differs."""

    gradient: Fact
    between: tuple[Fact, ...]
    """The calls that it came through."""
    nodes: tuple[str, ...]
    """The operations in their place where there are none."""
    anchor: Fact | None
    """The last call whose gradient agrees."""
    loss_agrees: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterGradient(FirstDifference):
    """The gradient of a parameter differs."""

    gradient: Fact
    module: Fact | None
    """Its module, where the gradient of the output of that agrees."""
    nodes: tuple[str, ...]
    """The operations between it and the loss."""
    before: Fact | None
    """The last gradient before it."""
    loss_agrees: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class BehindBackward(FirstDifference):
    """A gradient or a weight differs behind the backward pass."""

    evidence: ChangedAfterBackward | ReducedDiffers | UpdateDiffers | WeightWritten
    place: str
    iteration: int

    @property
    def blames(self) -> bool:
        """Return whether nothing before this difference differs, so that it may be blamed."""
        match self.evidence:
            case ChangedAfterBackward():
                return True
            case ReducedDiffers():
                return self.evidence.local_equal is not False
            case UpdateDiffers():
                return self.evidence.inputs_agree
            case WeightWritten():
                return self.evidence.after_update != "differs"
