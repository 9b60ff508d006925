"""The whole ladder: where the runs first diverge, and what they did not record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.explanation import RungName
from reprocheck.model.statement import Statement
from reprocheck.model.statements.difference import Unexplained
from reprocheck.model.statements.given import LeftFiles, NotGivenAlike


@dataclass(frozen=True, kw_only=True, slots=True)
class Consequence(Unexplained):
    """A difference that can follow from the first; `rank`: that of the first, where it is another
    one.
    """

    place: str
    first: RungName
    rank: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LaterLosses(Statement):
    """Losses differ behind the iterations that were recorded deeply; `agreeing`: how many those
    are, where nothing differs in them.
    """

    iteration: int
    agreeing: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Follows:
    """The first difference of the training, behind what the runs were given."""

    rung: RungName
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StartedUnequally(Statement):
    """The runs first diverge in what they were given, or found."""

    given: NotGivenAlike | LeftFiles
    follows: Follows | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Diverged(Statement):
    """The runs first diverge in a difference; `ranks` have it, `of` so many."""

    difference: Statement
    ranks: tuple[int, ...] = ()
    of: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class NotDiverged(Statement):
    """The runs that were recorded again do not diverge.

    series      the one that alone differs, and nothing that was recorded deeply
    iterations  so many agree, where the difference did not come back
    although    what differs nevertheless
    """

    why: Literal["nothing recorded", "equal", "hidden", "intermittent"]
    series: str = ""
    iterations: int = 0
    although: Statement | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InIteration(Statement):
    """A difference, and the iteration that it comes in."""

    iteration: int
    difference: Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class OfOneRun(Statement):
    """Ranks that only one of the two runs recorded."""

    ranks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class NotRecorded(Statement):
    """What could not be recorded, as a trace says it; `ranks`: where there are several."""

    line: Statement | str
    ranks: tuple[int, ...] = ()


Missing = Literal[
    "of the script",
    "of a library",
    "from outside",
    "no operators",
    "not recorded",
    "not recordable",
    "inputs",
    "size",
]
"""Why nothing can be replayed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NoReplay(Statement):
    """An operation that makes the difference cannot be replayed: `of` it, and why."""

    of: str
    missing: Missing
