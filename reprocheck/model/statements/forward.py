"""The forward pass and the loss: what was found out of the first difference there."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.statements.difference import Fact, FirstDifference


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherOutput(FirstDifference):
    """A module returns another output for the same inputs."""

    call: Fact
    unequal: tuple[str, ...]
    """The generators that it draws from whose states differ."""
    drawn: tuple[str, ...]
    """All that it draws from."""
    last: Fact | None
    """Its last child, behind which the difference came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherInputs(FirstDifference):
    """The inputs of a module differ, and nothing that was recorded makes the difference."""

    call: Fact
    enters: Fact
    """The outermost call around it that the difference came into."""
    before: Fact | None
    """The last fact before it that agrees."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreed:
    """What was recorded up to the loss, and agrees."""

    weights: bool
    states: bool
    batches: bool
    outputs: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherLabels(FirstDifference):
    """The module of a loss is given other labels in each run."""

    call: Fact
    agreed: Agreed


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherLossInput(FirstDifference):
    """What the loss is taken against differs; `path`: the first input that does, `label`: the first
    that is labels.
    """

    fact: Fact
    path: str
    label: str | None
    last: Fact | None
    """The last module before it."""
    agreed: Agreed


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherLoss(FirstDifference):
    """The loss differs, and nothing that was recorded explains why.

    compiled       the module whose forward pass a compiled function hides; "" if there is none
    first_weights  whether the weights before the first update were not recorded
    """

    iteration: int
    compiled: str
    first_weights: bool
    last: Fact | None
    agreed: Agreed


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherPath(FirstDifference):
    """Only one of the two runs does something."""

    fact: Fact
