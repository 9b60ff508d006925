"""The whole ladder: the first difference, rungs without one, and expected drift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.explanation import RungName
from reprocheck.model.statement import Statement
from reprocheck.model.statements.difference import Unexplained
from reprocheck.model.statements.inputs import LeftFiles, NotGivenAlike


@dataclass(frozen=True, kw_only=True, slots=True)
class Consequence(Unexplained):
    """A difference that can follow from the first one.

    `rank`: the rank of the first difference, if it is another rank.
    """

    place: str
    first: RungName
    rank: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LaterLosses(Statement):
    """Losses differ after the iterations that were recorded deeply.

    `agreeing`: the number of those iterations, if nothing differs in them.
    """

    iteration: int
    agreeing: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Follows:
    """The first difference of the training, after differences in what the runs were given."""

    rung: RungName
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StartedUnequally(Statement):
    """The runs first diverge in an argument, variable or file that they were given or found."""

    given: NotGivenAlike | LeftFiles
    follows: Follows | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Diverged(Statement):
    """The runs first diverge in a difference that the ranks `ranks` of `of` ranks have."""

    difference: Statement
    ranks: tuple[int, ...] = ()
    of: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class NotDiverged(Statement):
    """The runs that were recorded again do not diverge.

    series      the series that differs, if nothing that was recorded deeply does
    iterations  how many iterations agree, if the difference did not come back
    although    the losses or series that differ nevertheless
    """

    why: Literal["nothing recorded", "equal", "hidden", "intermittent"]
    series: str = ""
    iterations: int = 0
    although: Statement | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InIteration(Statement):
    """A difference, and the iteration in which it appears."""

    iteration: int
    difference: Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class OfOneRun(Statement):
    """Ranks that only one of the two runs recorded."""

    ranks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class NotRecorded(Statement):
    """The statement of a trace that something could not be recorded.

    `ranks`: its ranks, if there are several.
    """

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
    """The operation (`of`) that makes the difference cannot be replayed, and why."""

    of: str
    missing: Missing


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
    """Generators whose states differ without an effect.

    Those that differed when the weights were made, and those that differ but that nothing draws
    from.
    """

    at_weights: tuple[str, ...]
    unused: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise:
    """The runs of sides differ among themselves, by so much in a checked loss.

    `between`: the largest difference between the sides.
    """

    sides: tuple[str, ...]
    most: float
    between: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SidesCompared(Statement):
    """Whether the observed difference is one that the differences of the environment can cause.

    equal     whether the losses are equal in every bit; None if no losses were compared
    beside    the reported series that differ besides the losses
    acting    the titles of the classes of environment differences that may change numbers
    noise     the differences among the runs of each side
    quiet     how many runs of each side agree with each other, if that is known of both sides
    anything  whether one of the classes can cause any difference
    rounding  whether the first difference is of rounding level
    """

    equal: bool | None
    beside: tuple[str, ...]
    acting: tuple[str, ...]
    noise: Noise | None
    quiet: tuple[int, ...]
    anything: bool
    rounding: bool
