"""Two recordings that were made apart: what may be expected of the difference between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.explanation import SourceLine
from reprocheck.model.statement import Statement
from reprocheck.model.verdict import EnvironmentDifference

Expects = Literal["nothing", "rounding", "anything"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise:
    """What the runs of one side say of the difference from run to run, there.

    side      1 or 2                    runs     how many of its own runs were compared
    equal     in every bit; None where no loss was recorded
    largest   largest absolute difference of a loss in the two checks, None where none could be made
    """

    side: int
    runs: int
    equal: bool | None
    largest: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """A class of differences of the environment, and what is to be expected of it.

    name, title   of the class: `threads`, "number of threads"
    expects       what follows at most: `nothing`, `rounding` (differences of rounding level),
                  `anything`
    why           one sentence; `reference` where it is known from
    differences   the facts that differ
    """

    name: str
    title: str
    expects: Expects
    why: str
    reference: str
    differences: tuple[EnvironmentDifference, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedLine:
    """A line of a file on either side; None where it stands on the other alone."""

    first: SourceLine | None
    second: SourceLine | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceDifference:
    """A file of the user's that is not the same on both sides.

    diff        unified, limited in size
    left_out    how many lines of it there are beyond that, until the check is told
    only_in     1 or 2 where one side alone has it
    same_code   whether comments and layout alone differ
    changed     the first lines that differ
    """

    file: str
    diff: str
    left_out: int = 0
    only_in: int | None = None
    same_code: bool = False
    changed: tuple[ChangedLine, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Between:
    """What stands between two recordings.

    `statement`: whether the difference is drift that was to be expected; `sentence`: the same in
    words, once the check is told (`reprocheck.wording`).
    """

    statement: Statement | None = None
    sentence: str = ""
    drift: tuple[Drift, ...] = ()
    noise: tuple[Noise, ...] = ()
    sources: tuple[SourceDifference, ...] = ()

    @property
    def other_code(self) -> tuple[SourceDifference, ...]:
        """The files whose code differs, not only its comments and layout."""
        return tuple(one for one in self.sources if not one.same_code)
