"""The operator that makes a difference, where operators were recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.evidence import OperatorDiffers
from reprocheck.model.statements.difference import Fact, FirstDifference


@dataclass(frozen=True, kw_only=True, slots=True)
class UnequalInput:
    """The first input of an operator that differs; `values`: the input in both runs, if it is no
    tensor.
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
        """Return whether the operator says more than that something not recorded made the
        difference.
        """
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
