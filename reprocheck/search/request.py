"""What a search asks of runs, and what it is answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reprocheck.model import RUNGS, RungName
from reprocheck.model.reason import Reason

FRESH = "fresh-workdir"
"""The control under which no run finds what another one left, nor names taken that another control
fixes.
"""
PAIR = 2
"""The fewest runs under a set of controls: one alone cannot agree with another."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the runs under a set of controls said.

    agrees    None where it could not be decided: the script crashed, or recorded too little
    exact     whether they agree in every bit
    acted     controls and patches that acted on something in each of these runs; None where that is
              not known
    blamed    those of the controls that made the script end with an error, where it says so
    stumbled  a later run alone failed: what the first one left is in its way
    places    control -> places at which it acted, and may be told not to: lines of the user's, or
              the generators of libraries
    """

    agrees: bool | None
    runs: int = PAIR
    exact: bool = True
    acted: frozenset[str] | None = None
    blamed: tuple[str, ...] = ()
    stumbled: bool = False
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def acting(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of the controls that acted on something; all where that is not known."""
        if self.acted is None:
            return frozenset(names)
        return self.acted.intersection(names)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Runs to make: `runs` of them in all under these controls, and with these
    patches (none: as is), and why.

    value      which of several values they give, from 0
    reference  more controls, under which runs agree: one run that gives their bits says enough, and
               so does one that gives others where what is left out is new in each start
    spared     control, `@` and a place at which it is not to act
    deep       whether they record more than losses: what they first differ in, if they do, speaks
               for further controls
    """

    controls: tuple[str, ...]
    runs: int
    why: Reason
    value: int = 0
    reference: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    deep: bool = False


class Unanswered(Exception):  # noqa: N818 - a request, not an error
    """The search needs runs that were not made yet."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.why.key)
        self.question = question


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Where runs first differ.

    controls  those that it speaks for, the nearest first
    """

    rung: RungName
    place: str = ""
    iteration: int = 0
    controls: tuple[str, ...] = ()

    def is_behind(self, other: Difference) -> bool:
        """Return whether other runs differ before: on an earlier rung, or at another place of the
        same one.
        """
        if self.order == other.order:
            return self.place != other.place
        return self.order > other.order

    @property
    def order(self) -> tuple[int, int]:
        """Return what tells an earlier difference from a later one."""
        return self.iteration, RUNGS.index(self.rung)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """The controls to search among, each list with the most suspicious first.

    likely     tried alone first; harmless and altering hold them, too
    suspects   one for each cause, and for each source of randomness that the scan finds: tried
               together where none suffices alone
    sure       controls of causes that are observed, or of which the scan is sure, and that ran
    first      where the runs as they are first differ
    fixes      patches that are known of what a cause or the scan names, as `RC402 train.py:3`:
               tried where the controls do not suffice
    unreached  patches of what the scan is sure of and no control reaches: where there are any, all
               patches are tried first
    harmless   those that do not alter the training
    altering   those that do; `last`: those of them that a cause speaks for, tried alone where the
               harmless ones do not suffice
    brittle    those that make scripts fail more often than others: looked at first where one does
    silent     those of which nothing shows what they act on: what differs without one, and agrees
               with it, shows that it acts
    reasons    why a control is likely, by its name
    parts      control -> those that do a part of what it does, and nothing else
    """

    likely: tuple[str, ...]
    harmless: tuple[str, ...]
    suspects: tuple[str, ...] = ()
    sure: tuple[str, ...] = ()
    first: Difference | None = None
    fixes: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    altering: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    brittle: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    reasons: Mapping[str, Reason] = field(default_factory=dict)
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return these names in the order of the search."""
        wanted = frozenset(names)
        return tuple(filter(wanted.__contains__, (*self.harmless, *self.altering, *self.fixes)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What the search came to.

    smallest   a set that makes the runs agree, none of whose controls can be left out; no single
               likely control does where it holds several; empty where nothing was found
    runs       how many runs agree under it
    crashing   controls under which the script ends with an error
    idle       a set under which the runs agreed although none of its controls, or not all that seem
               needed, acted on anything
    complete   whether all controls together were tried where nothing was found
    needed     control -> those of its places at which it has to act, where it acted at several
    """

    smallest: tuple[str, ...] = ()
    runs: int = 0
    crashing: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    complete: bool = True
    needed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
