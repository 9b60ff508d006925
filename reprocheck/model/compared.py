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
    """How much the runs of one side of a comparison differ among each other.

    side      1 or 2, the side of the comparison
    runs      how many runs of this side were compared
    equal     whether their losses are equal in every bit; None if no loss was recorded
    largest   largest absolute difference of a loss in the forward and the backward check; None if
              none could be computed
    """

    side: int
    runs: int
    equal: bool | None
    largest: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """A class of differences between two environments, and the effect that it can have.

    name, title   of the class: `threads`, "number of threads"
    expects       the largest effect: `nothing`, `rounding` (differences of rounding level) or
                  `anything`
    why           one sentence that justifies `expects`; `reference`: its source
    differences   the facts of the environment that differ
    """

    name: str
    title: str
    expects: Expects
    why: str
    reference: str
    differences: tuple[EnvironmentDifference, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedLine:
    """A changed line of a file on either side; None for the side that does not have the line."""

    first: SourceLine | None
    second: SourceLine | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceDifference:
    """A file of the user's that is not the same on both sides.

    diff        the unified diff, limited in size
    left_out    how many further lines the diff has, until the check is put into words
    only_in     1 or 2 if the file exists on that side alone
    same_code   whether only comments and layout differ
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
