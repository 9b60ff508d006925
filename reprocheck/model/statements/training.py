"""The steps of a training, from its hyper-parameters and weights to the update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.evidence import (
    ChangedAfterBackward,
    OperatorDiffers,
    ReducedDiffers,
    UpdateDiffers,
    WeightsDiffer,
    WeightWritten,
)
from reprocheck.model.statements.difference import Fact, FirstDifference, Unexplained
from reprocheck.model.statements.inputs import Seeding

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
    """An input that the loss is taken against differs.

    `path`: the first input that does, `label`: the first that is labels.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class UnequalInput:
    """The first input of an operator that differs.

    `values`: the input in both runs, if it is no tensor.
    """

    path: str
    values: tuple[object, object] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstOperator(FirstDifference):
    """The first operator that differs.

    node, module, line  the autograd node that the operator belongs to, the module and the line that
                        call it
    drawn               the generators that the operator draws from
    unequal             those of `drawn` whose states differ
    """

    evidence: OperatorDiffers
    fact: Fact
    node: str
    module: str
    line: str
    drawn: tuple[str, ...] = ()
    unequal: tuple[str, ...] = ()
    unequal_input: UnequalInput | None = None

    @property
    def blames(self) -> bool:
        """Return whether the operator itself makes the difference."""
        return not self.evidence.inputs_differ

    @property
    def tells(self) -> bool:
        """Return whether the operator says more than that something unrecorded differs."""
        return self.unequal_input is None or self.unequal_input.values is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Refined(FirstDifference):
    """A difference, refined by the runs that recorded the operators.

    elsewhere  the iteration of the operator, if it is not that of the difference
    """

    difference: FirstDifference
    operator: FirstOperator | Literal["none differs", "differ before"]
    elsewhere: int | None = None

    @property
    def blames(self) -> bool:
        """Return whether the difference or the operator names what makes the difference."""
        by_operator = isinstance(self.operator, FirstOperator) and self.operator.blames
        return by_operator or self.difference.blames


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
