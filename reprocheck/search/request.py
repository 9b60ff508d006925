"""The questions that a search asks, and their answers from runs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from reprocheck.model import RUNGS, Check, Run, RungName, Verdict
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

    agrees    whether the runs agree; None if that could not be decided because the script crashed
              or recorded too little
    runs      how many runs were made
    exact     whether the runs agree in every bit
    acted     controls and patches that acted on something in each of the runs; None if that is not
              known
    blamed    the controls that made the script end with an error, if the error message says so
    stumbled  whether a later run alone failed, for example on a file that run 1 left
    places    control -> places at which it acted and can be switched off: lines of the user's code,
              or generators of libraries
    """

    agrees: bool | None
    runs: int = PAIR
    exact: bool = True
    acted: frozenset[str] | None = None
    blamed: tuple[str, ...] = ()
    stumbled: bool = False
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def acting(self, names: Iterable[str]) -> frozenset[str]:
        """Return the controls that acted on something.

        All of the given controls if that is not known.
        """
        if self.acted is None:
            return frozenset(names)
        return self.acted.intersection(names)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Runs to make under a set of controls and patches.

    controls   names of the controls and patches; empty for runs without further controls
    runs       how many runs are needed in all, those made before included
    why        the reason that is shown to the user
    value      which of the possible values the controls use, from 0
    reference  a larger set of controls under which runs agree; one run that gives the same bits is
               enough, and so is one with other bits if what is left out is new in each start
    spared     places at which a control is not to act, as `control@place`
    deep       whether the runs record more than losses, so that their first difference can suggest
               further controls
    """

    controls: tuple[str, ...]
    runs: int
    why: Reason
    value: int = 0
    reference: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    deep: bool = False


class Unanswered(Exception):  # noqa: N818 - a request, not an error
    """A question of the search cannot be answered, because its runs were not made yet."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.why.key)
        self.question = question


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The place where runs first differ.

    rung       the rung of the ladder
    place      the place on the rung, such as the path of a module
    iteration  the iteration, counted from 1; 0 before the first one
    controls   the controls that the difference suggests, the nearest first
    """

    rung: RungName
    place: str = ""
    iteration: int = 0
    controls: tuple[str, ...] = ()

    def is_behind(self, other: Difference) -> bool:
        """Return whether this difference comes later, or at another place of the same rung.

        Later means in a later iteration, or in the same iteration on a later rung of the ladder.
        """
        if self.order == other.order:
            return self.place != other.place
        return self.order > other.order

    @property
    def order(self) -> tuple[int, int]:
        """Return a sort key: the difference that comes first has the smallest."""
        return self.iteration, RUNGS.index(self.rung)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """The controls to search among; each list has the most suspicious control first.

    likely     tried alone first; these controls are in `harmless` or `altering`, too
    suspects   one control for each cause and each source of randomness that the scan finds: tried
               together if none suffices alone
    sure       controls of causes that are observed, or that the scan is sure of and that ran
    first      the place where the runs of the check first differ
    fixes      known patches for what a cause or the scan names, such as `RC402 train.py:3`: tried
               if the controls do not suffice
    unreached  patches of what the scan is sure of and no control reaches: if there are any, all
               patches are tried first
    harmless   controls that do not alter the training
    altering   controls that alter the training
    last       the controls of `altering` that a cause suggests: tried alone if the harmless ones do
               not suffice
    brittle    controls that make scripts fail more often than others: the first suspects if a
               script crashes
    silent     controls whose effect is never recorded: such a control acts if runs differ without
               it and agree with it
    reasons    control -> why it is likely
    parts      control -> other controls that do a part of what it does, and nothing else
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
        """Return the names in the order of the search: harmless, altering, patches."""
        wanted = frozenset(names)
        return tuple(filter(wanted.__contains__, (*self.harmless, *self.altering, *self.fixes)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The end of a search: the smallest set of controls, or why there is none.

    smallest  a set that makes the runs agree, none of whose controls can be left out; several
              controls only if no single likely control suffices; empty if nothing was found
    runs      how many runs agree under the smallest set
    crashing  controls under which the script ends with an error
    idle      a set under which the runs agreed although none of its controls, or not all that seem
              needed, acted on anything
    complete  if nothing was found: whether all controls together were tried
    needed    control -> those of its places at which it has to act, if it acted at several
    """

    smallest: tuple[str, ...] = ()
    runs: int = 0
    crashing: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    complete: bool = True
    needed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The series that runs under controls must have in common, in every bit.

    name       the name of the series as the script reported it
    by         the library or logger to which the script reported the series
    number     the first value, counted from 1, that differs in any bit between the uncontrolled
               runs
    iteration  the iteration of the training that was under way then
    """

    name: str
    by: str
    number: int
    iteration: int

    def agree(self, verdict: Verdict, until: int) -> bool | None:
        """Return whether runs agree in every bit of the series, and of losses before it.

        The losses must be equal up to iteration `until`.

        None if that could not be decided.
        """
        if verdict.exit_code == 1:
            return False
        if verdict.verdict != "reproducible":
            return None
        is_equal = any(
            (row.reported, row.by, row.state) == (self.name, self.by, "equal")
            for row in verdict.series
        )
        return is_equal and verdict.bitwise.equal_until(until)

    def outcome(self, run: Run) -> Hashable:
        """Return the values of every rank up to the first difference, as a key of the run."""
        outcomes = []
        for trace in run.traces:
            numbers = trace.reported(self.name, self.by).numbers
            # those that a double does not hold
            exact = sorted(item for item in numbers.exact.items() if item[0] < self.number)
            values = numbers.values[: self.number].tobytes()
            outcomes.append((trace.rank, values, tuple(exact)))
        return tuple(outcomes)

    def is_finite(self, run: Run) -> bool:
        """Return whether every rank has a finite number at the first difference."""
        series = (trace.reported(self.name, self.by) for trace in run.traces)
        values = [one.value(self.number) for one in series]
        # one that was not reported is as good as a number: it tells runs apart
        return all(value is None or math.isfinite(value) for value in values)


def target_of(check: Check) -> Target | None:
    """Return the series that is searched.

    None if losses differ, or no differing series makes the check fail.
    """
    row = check.verdict.failing_series(check.record.fail_on)
    if row is None or row.first_unequal is None:
        return None
    place = row.first_unequal
    return Target(name=row.reported, by=row.by, number=place.number, iteration=place.iteration)
