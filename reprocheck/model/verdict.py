"""What the criterion says of the runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from reprocheck.model.mirrors import Mirrors
from reprocheck.model.statement import Statement
from reprocheck.model.trace import CheckKind

VerdictName = Literal[
    "reproducible",
    "not_reproducible",
    "seed_without_effect",
    "inconclusive",
    "script_failed",
    "timed_out",
]

EXIT_CODE: Mapping[VerdictName, int] = {
    "reproducible": 0,
    "not_reproducible": 1,
    "seed_without_effect": 1,
    "inconclusive": 3,
    "script_failed": 4,
    "timed_out": 5,
}

Tone = Literal["good", "unsure", "bad", "failed"]
TONES: Mapping[int, Tone] = {0: "good", 1: "bad", 3: "unsure", 4: "failed", 5: "failed"}
"""How a verdict looks, by its exit code."""

SERIES_RULE = "series:"
"""Before the name of a series that is to agree within the tolerance, too."""
MIRRORS_RULE = "mirrors"
"""What should differ inside one run and is the same fails the check."""
FAIL_ON = ("checks", "any-iteration", "bitwise", MIRRORS_RULE, f"{SERIES_RULE}NAME")
"""The rules of `--fail-on`, with a word that stands for the name of any series."""


_COMMA = re.compile(rf",(?=\s*(?:{'|'.join((*FAIL_ON[:-1], SERIES_RULE))}))")
"""A comma before a rule: the name of a series may hold others."""


def rules_of(fail_on: str) -> list[str]:
    """Return the rules of `--fail-on`, which have a comma between them.

    >>> rules_of("bitwise, series:a, b")
    ['bitwise', 'series:a, b']
    """
    return list(map(str.strip, _COMMA.split(fail_on)))


_BADNESS = {False: 2, None: 1, True: 0}


def is_rule(rule: str) -> bool:
    """Return whether a word is a rule of `--fail-on`."""
    if rule.startswith(SERIES_RULE):
        return rule != SERIES_RULE
    return rule in FAIL_ON


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One loss list of one rank of one run against run 1, in one of the two checks.

    The forward or the backward check: a row of `checks` in report.json.

    Numbers are those of the element with the largest difference relative to what is allowed.
    `passed` is None if the comparison could not be made. `detail` is the text of `why`.
    """

    iteration: int
    kind: CheckKind
    run: int
    rank: int
    loss_index: int | None
    passed: bool | None
    max_difference: float | None
    allowed: float | None
    ulp: int | None
    reference: float | None = None
    value: float | None = None
    why: Statement | None = None
    detail: str = ""

    @property
    def limit(self) -> float:
        """Return the largest allowed difference; infinite if no double can hold it."""
        return inf if self.allowed is None else self.allowed

    @property
    def excess(self) -> float:
        """Return by how much the difference exceeds the allowed one; inf if it is no number."""
        if self.max_difference is None:
            return inf
        return self.max_difference - self.limit

    @property
    def badness(self) -> tuple[int, float]:
        """Return how bad the row is, as a sort key.

        A failure is worse than a check that could not be made, that is worse than a pass, and then
        the larger excess.
        """
        return _BADNESS[self.passed], self.excess

    @property
    def weight(self) -> tuple[float, float]:
        """Return the sort key of a row: how far the difference exceeds the allowed one."""
        difference, limit = self.max_difference or 0.0, self.limit
        return max(difference - limit, 0.0), difference / limit if limit else difference


@dataclass(frozen=True, kw_only=True, slots=True)
class Bitwise:
    """Whether all recorded losses of all runs are equal in every bit.

    Else the first iteration that is not, and by how many ULP.
    """

    equal: bool | None
    first_iteration: int | None = None
    ulp: int | None = None
    one_is_longer: bool = False
    """Nothing differs but that one run has more iterations."""

    def equal_until(self, iteration: int) -> bool:
        """Return whether the losses up to an iteration are known to be equal in every bit."""
        if self.first_iteration is None:
            return self.equal is True
        return self.first_iteration > iteration


@dataclass(frozen=True, kw_only=True, slots=True)
class Divergence:
    """The first loss outside the tolerance over all recorded iterations.

    `detail` is made of `why`, and says why a loss has no partner.
    """

    iteration: int
    run: int
    rank: int
    reference: float | None
    value: float | None
    why: Statement | None = None
    detail: str = ""


SeriesState = Literal["equal", "within tolerance", "differs", "clock"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesPlace:
    """A value of a series in a run, next to that of run 1.

    number            the number of the value in its series, from 1
    iteration         the iteration of the training that was under way when it was reported
    step              the position on the tracker's own axis; None if not given
    reference, value  the value in run 1 and in the run; None if not reported
    """

    number: int
    iteration: int
    step: float | None
    run: int
    rank: int
    reference: float | None
    value: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesComparison:
    """One series of all ranks in all runs: a row of `series` in report.json.

    name            of the series in the report: with `by` before it where two would have the same
    reported        its name as it was reported
    by              who was given it: `tensorboard`, `keras`, `torch`…; "" for `reprocheck.log`
    state           `equal` in every bit; `within tolerance`; `differs`; `clock`: it differs though
                    every loss agrees, and is taken for a time or for what a machine uses
    values          how many run 1 reported, of the rank with most of them
    max_difference  the largest against what is allowed, and what was allowed there
    """

    name: str = ""
    reported: str = ""
    by: str = ""
    state: SeriesState = "equal"
    values: int = 0
    first_unequal: SeriesPlace | None = None
    first_outside: SeriesPlace | None = None
    max_difference: float = 0.0
    allowed: float = 0.0

    @property
    def first_difference(self) -> SeriesPlace | None:
        """Return the first value outside the tolerance, else the first that differs in any bit."""
        return self.first_outside or self.first_unequal

    @property
    def unequal_from(self) -> int:
        """The iteration in which the first value was reported that is not equal in every bit.

        0 if all values are equal.
        """
        return self.first_unequal.iteration if self.first_unequal else 0

    @property
    def compared(self) -> bool:
        """Return whether the series was compared, and not taken for clock time or resource use."""
        return self.state != "clock"

    @property
    def unequal(self) -> bool:
        """Return whether the series was compared, and is not equal in every bit."""
        return self.state in ("differs", "within tolerance")


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeGroup:
    """Runs whose losses are equal in every bit."""

    runs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LossStatistics:
    """Mean and sample standard deviation, over the runs, of one loss of rank `rank`.

    The loss of an iteration is the sum of its list.
    """

    iteration: int
    rank: int
    mean: float
    standard_deviation: float


@dataclass(frozen=True, kw_only=True, slots=True)
class OneIsLonger:
    """Two runs whose losses are equal in every bit up to the end of the shorter run.

    first, second  how many iterations run 1 and run 2 recorded
    ended          the run that did not come to its planned end; 0 if both did
    """

    first: int
    second: int
    ended: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcomes:
    """N runs grouped by bitwise outcome, and what the sample can exclude.

    `bound`: exact one-sided 95 % bound on the share of runs that differ from run 1, 1 -
    0.05^(1/(N-1)) when none differed. `statistics` holds the first 1,000 iterations. `statement`
    is made of the others.
    """

    groups: tuple[OutcomeGroup, ...]
    bound: float | None
    longer: OneIsLonger | None = None
    statement: str = ""
    statistics: tuple[LossStatistics, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The verdict of the criterion on the runs.

    `title` is in the words of the documentation; `reason` is one sentence, the text of `because`;
    `caveats` are the texts of `cautions`.
    """

    verdict: VerdictName
    failed_check: CheckKind | None
    exit_code: int
    comparisons: tuple[Comparison, ...]
    bitwise: Bitwise
    first_divergence: Divergence | None
    outcomes: Outcomes
    because: Statement | None = None
    cautions: tuple[Statement, ...] = ()
    series: tuple[SeriesComparison, ...] = ()
    """What the training reported beside its losses."""
    mirrors: Mirrors = field(default_factory=Mirrors)
    """What should differ inside run 1 and is the same."""
    broken_rule: str = ""
    """The rule of `--fail-on` that makes the exit code 1 although the checks agree."""
    title: str = ""
    """The headline: its first words say what the exit code says."""
    reason: str = ""
    caveats: tuple[str, ...] = ()

    @property
    def tone(self) -> Tone:
        """Return the colour of the verdict: good only if the checks pass and nothing differs."""
        if self.passed and not self.plainly_passes:
            return "unsure"
        return TONES[self.exit_code]

    @property
    def fails_by_losses(self) -> bool:
        """Return whether the exit code is 1 because losses differ, not only a series."""
        return self.exit_code == EXIT_CODE["not_reproducible"] and self.bitwise.equal is not True

    @property
    def next_rule(self) -> str:
        """Return the rule of `--fail-on` that turns a difference the pass allows into a failure.

        "" if there is none.
        """
        if self.first_divergence is not None:
            return "any-iteration"
        if self.differing_series:
            return f"{SERIES_RULE}{self.differing_series[0].name}"
        if self.bitwise.equal is False:
            return "bitwise"
        return ""

    @property
    def plainly_passes(self) -> bool:
        """Return whether the checks agree, and nothing else that was recorded differs."""
        agrees = self.passed and self.first_divergence is None
        return agrees and not self.differing_series

    @property
    def differing_series(self) -> tuple[SeriesComparison, ...]:
        """The series that differ beyond the tolerance, and are no clock's."""
        return tuple(one for one in self.series if one.state == "differs")

    def failing_series(self, fail_on: str) -> SeriesComparison | None:
        """Return the first series that makes the exit code 1 while all losses agree in every bit.

        A rule of `fail_on` names it; a series that no run reported does not count.
        """
        if self.exit_code != EXIT_CODE["not_reproducible"] or self.bitwise.equal is not True:
            return None
        rules = rules_of(fail_on)
        differ = (row for row in self.series if row.first_outside is not None)
        return next((row for row in differ if SERIES_RULE + row.name in rules), None)

    @property
    def unequal_series(self) -> tuple[SeriesComparison, ...]:
        """The series that are not equal in every bit while all losses are."""
        if self.bitwise.equal is not True:
            return ()
        return tuple(row for row in self.series if row.unequal)

    @property
    def passed(self) -> bool:
        """Return whether the exit code is 0."""
        return self.exit_code == 0

    @property
    def diverges_from(self) -> int | None:
        """The first iteration outside the tolerance."""
        return self.first_divergence.iteration if self.first_divergence else None

    @property
    def largest(self) -> Comparison | None:
        """The comparison with the largest difference relative to the allowed one."""
        return max(
            (row for row in self.comparisons if row.max_difference is not None),
            key=lambda row: row.weight,
            default=None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentDifference:
    """One fact of the environment that is not the same in a run as in run 1."""

    key: str
    run: int
    reference: object
    value: object
