"""What seeds a training, and whether another seed changes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.explanation import RungName, SourceLine
from reprocheck.model.statement import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedingCall:
    """A call that seeds generators; number 0: a seed that a parser of arguments read.

    number        of the call in its process, from 1
    what          the function, or the name of what the parser read
    source        the line of the user's code that chose the seed
    inner         the user's line nearest to the call
    setting       the setting of a library that held the seed: `args.data_seed`
    drawn_in      the iteration in which something was drawn first behind it; None if nothing was
    may_be_drawn  whether it seeds a generator of which draws are not seen
    """

    number: int
    what: str
    value: str
    source: SourceLine | None = None
    inner: SourceLine | None = None
    setting: str = ""
    generators: tuple[str, ...] = ()
    drawn_in: int | None = None
    may_be_drawn: bool = False

    def draws_until(self, iteration: int) -> bool:
        """Return whether something is drawn behind it, or may be, up to an iteration."""
        if self.drawn_in is None:
            return self.may_be_drawn
        return self.drawn_in <= iteration


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedOrigin:
    """Where the seed of a training comes from, and what it was changed to.

    kind   `{seed}` in the command, an argument there, what a parser read, the first call that seeds
    name   the argument or the function
    calls  the numbers of the calls that are given this seed
    """

    kind: Literal["placeholder", "argument", "parsed", "call"]
    name: str
    value: str
    other: str
    source: SourceLine | None = None
    calls: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Overriding:
    """A call that gave a generator the same seed in both runs; something was drawn behind it.

    set_at  the line that gives the setting from which it takes the seed
    """

    call: SeedingCall
    set_at: SourceLine | None = None

    @property
    def source(self) -> SourceLine | None:
        """Return the line at which the seed is fixed."""
        return self.set_at or self.call.source


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedEffect:
    """What another seed changed.

    differs     whether the losses differ; None if that is not known
    first       the first iteration whose losses differ, 0 for none
    iterations  how many iterations are equal in every bit where the losses do not differ
    reached     whether the other seed reached a call that seeds
    parsed      the seed that a parser of arguments read
    overriding  the calls that fixed a generator in spite of it, the most telling first
    rung        the first rung of the ladder on which the runs differ all the same
    """

    origin: SeedOrigin
    differs: bool | None
    first: int = 0
    iterations: int = 0
    reached: bool = False
    parsed: SeedingCall | None = None
    overriding: tuple[Overriding, ...] = ()
    rung: RungName | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedChangesNothing(Statement):
    """Another seed leaves all losses as they are, in every bit."""

    effect: SeedEffect


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedNotJudged(Statement):
    """The effect of a seed cannot be judged.

    why  runs with one seed differ, `iteration` being the first; no seed was found; nothing is drawn
         in `iterations` iterations, and first in `iteration` if it is not 0; the run with another
         seed was not made, or recorded no loss
    """

    why: Literal["runs differ", "no seed", "nothing drawn", "not made"]
    iterations: int = 0
    iteration: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedRunEnded(Statement):
    """The run with another seed did not end well."""

    origin: SeedOrigin
    ended: Literal["failed", "timed_out"]
    exit_status: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedOverridden(Statement):
    """What fixes the generators in spite of another seed."""

    effect: SeedEffect
