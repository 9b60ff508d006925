"""What the statements on differences of the ladder share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement

THE_MODEL = "the model"
"""The place of a module that has neither a path nor a class."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A recorded fact, as a sentence names it.

    kind       the kind of the fact in the trace: `call`, `batch`, `weights`
    iteration  the iteration, from 1; 0 before the first
    call       how often the same fact was recorded before in the iteration
    buffer     whether the weight is a buffer and no parameter
    only_in    the run that has the fact, if the other run does not
    """

    kind: str
    place: str
    class_: str = ""
    iteration: int = 0
    call: int = 0
    buffer: bool = False
    only_in: Literal[1, 2] | None = None


class FirstDifference(Statement):
    """Base class of the statements about the first difference on a rung."""

    __slots__ = ()

    @property
    def blames(self) -> bool:
        """Return whether the statement names the operation that makes the difference."""
        return True


class Unexplained(FirstDifference):
    """Base class of the statements about a difference of which nothing names the cause."""

    __slots__ = ()

    @property
    def blames(self) -> bool:
        """Return False."""
        return False


@dataclass(frozen=True, kw_only=True, slots=True)
class Culprit(Statement):
    """The operation that makes a difference, behind the last place that agrees."""

    difference: FirstDifference
