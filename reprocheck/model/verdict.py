"""What the criterion says of the runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal

from reprocheck.model.trace import CheckKind

VerdictName = Literal[
    "reproducible", "not_reproducible", "inconclusive", "script_failed", "timed_out"
]

EXIT_CODE: Mapping[VerdictName, int] = {
    "reproducible": 0,
    "not_reproducible": 1,
    "inconclusive": 3,
    "script_failed": 4,
    "timed_out": 5,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One loss list of one rank of one run against run 1 in one of the two checks: a row of
    `checks` in report.json.

    Numbers are those of the element with the largest difference against what is allowed. `passed`
    is None where it could not be made.
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
    detail: str = ""

    @property
    def excess(self) -> float:
        """By how much the difference is larger than allowed; infinite where it is no number."""
        if self.max_difference is None:
            return inf
        return self.max_difference - (self.allowed or 0.0)

    @property
    def weight(self) -> tuple[float, float]:
        """How far the difference is beyond what is allowed, and its share of that: rows are ranked
        by it.
        """
        difference, allowed = self.max_difference or 0.0, self.allowed or 0.0
        return max(difference - allowed, 0.0), difference / allowed if allowed else difference


@dataclass(frozen=True, kw_only=True, slots=True)
class Bitwise:
    """Whether all recorded losses of all runs are equal in every bit; else the first iteration that
    is not, and by how many ULP.
    """

    equal: bool | None
    first_iteration: int | None = None
    ulp: int | None = None
    one_is_longer: bool = False
    """Nothing differs but that one run has more iterations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Divergence:
    """The first loss outside the tolerance over all recorded iterations."""

    iteration: int
    run: int
    rank: int
    reference: float | None
    value: float | None
    detail: str = ""

    @property
    def place(self) -> str:
        """`iteration 6 (1.36 against 1.56)`, run 1 first."""
        if self.value is None or self.reference is None:
            return f"iteration {self.iteration} ({self.detail})"
        return f"iteration {self.iteration} ({_apart(self.reference, self.value)})"


def _apart(one: float, other: float) -> str:
    """Both numbers with as many digits as it takes to tell them apart."""
    for digits in range(3, 18):
        shown = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if shown[0] != shown[1]:
            break
    return f"{shown[0]} against {shown[1]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeGroup:
    """Runs whose losses are equal in every bit."""

    runs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LossStatistics:
    """Mean and sample standard deviation over the runs of one iteration's loss (sum of its list) of
    rank `rank`.
    """

    iteration: int
    rank: int
    mean: float
    standard_deviation: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcomes:
    """N runs grouped by bitwise outcome, and what the sample can exclude.

    `bound`: exact one-sided 95 % bound on the share of runs that differ from run 1, 1 -
    0.05^(1/(N-1)) when none differed. `statistics` holds the first 1,000 iterations.
    """

    groups: tuple[OutcomeGroup, ...]
    bound: float | None
    statement: str
    statistics: tuple[LossStatistics, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the criterion says of the runs.

    `reason` is one sentence; `title` is in the words of the documentation.
    """

    verdict: VerdictName
    failed_check: CheckKind | None
    reason: str
    exit_code: int
    comparisons: tuple[Comparison, ...]
    bitwise: Bitwise
    first_divergence: Divergence | None
    outcomes: Outcomes
    caveats: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """`REPRODUCIBLE`, `NOT REPRODUCIBLE (forward)`, `INCONCLUSIVE`…"""
        words = self.verdict.replace("_", " ").upper()
        if self.verdict == "not_reproducible":
            return f"{words} ({self.failed_check})"
        if self.verdict == "reproducible" and self.first_divergence is not None:
            return f"{words} in the checks, DIVERGES from {self.first_divergence.place}"
        return words

    @property
    def passed(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    @property
    def diverges_from(self) -> int | None:
        """The first iteration outside the tolerance."""
        return self.first_divergence.iteration if self.first_divergence else None

    @property
    def largest(self) -> Comparison | None:
        """The comparison with the largest difference against what is allowed; of those beyond it
        the one that is furthest beyond.
        """
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
