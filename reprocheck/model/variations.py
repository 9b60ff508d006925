"""What runs were varied by, and what a search for the guilty variation found."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.explanation import SourceLine
from reprocheck.model.statement import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """A trial: one run with these variations against run 1, or two runs without variations.

    agrees  whether the runs agree by the criterion of the check; None if that could not be decided
    broke   whether the run failed, which run 1 did not
    """

    varied: tuple[str, ...]
    agrees: bool | None
    broke: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Guilty:
    """A variation on which the training depends: varied alone, it makes the runs differ.

    what    the call or variable by which the script came to it; "" where that was not seen
    source  the line of the user's code that did
    """

    name: str
    what: str = ""
    source: SourceLine | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Variations:
    """The variations of a check, and the search for the one that makes its runs differ.

    made      the variations of each run behind the first one
    runs      the numbers of these runs
    seed      what decides the values of the variations from run 3 on
    run       the run whose values the trials have: the first that differs
    left_out  variations that were asked for and not made, each with the key of the reason
    tried     the trials, in the order in which they were made
    guilty    those on which the training depends
    among     variations of which the difference needs one or more, where none was found that makes
              it alone
    plain     whether two runs without variations agree; None if that is not known
    rest      whether the runs agree with all but the guilty ones; None if that is not known
    wanted    the variations of the trial that is to be made next; None if all is known
    """

    made: tuple[str, ...]
    runs: tuple[int, ...] = ()
    seed: int = 0
    run: int = 0
    left_out: tuple[tuple[str, str], ...] = ()
    tried: tuple[Tried, ...] = ()
    guilty: tuple[Guilty, ...] = ()
    among: tuple[str, ...] = ()
    plain: bool | None = None
    rest: bool | None = None
    wanted: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DependsOn(Statement):
    """The training depends on something that a run may be varied by."""

    guilty: Guilty
