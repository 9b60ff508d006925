"""What the statements on differences of the ladder share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement

THE_MODEL = "the model"
"""The place of a module that has neither a path nor a class."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """What is named of a recorded fact.

    kind       as the trace has it: `call`, `batch`, `weights`
    iteration  from 1; 0 before the first
    call       how often the same came before in the iteration
    buffer     of a weight: it is no parameter
    only_in    the run that has it, where the other has not
    """

    kind: str
    place: str
    class_: str = ""
    iteration: int = 0
    call: int = 0
    buffer: bool = False
    only_in: Literal[1, 2] | None = None


class FirstDifference(Statement):
    """Base of what was found out of the first difference on a rung."""

    __slots__ = ()

    @property
    def blames(self) -> bool:
        """Return whether it names what makes the difference."""
        return True


class Unexplained(FirstDifference):
    """Base of what is known of a difference, where nothing names what makes it."""

    __slots__ = ()

    @property
    def blames(self) -> bool:
        """Return False."""
        return False


@dataclass(frozen=True, kw_only=True, slots=True)
class Culprit(Statement):
    """What makes a difference: the operation between the last place that agrees and its own."""

    difference: FirstDifference
