"""What a search is about where all losses agree: a series that differs, and that a rule of
`--fail-on` names.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from reprocheck.model import Check, Run, SeriesComparison, Trace, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The series that runs under controls must have in common, every bit of it.

    name, by   as it was reported, and who was given it
    number     its first value that is not equal in every bit in the runs as they are, from 1
    iteration  of the training, that was under way then
    """

    name: str
    by: str
    number: int
    iteration: int

    def agree(self, verdict: Verdict, until: int) -> bool | None:
        """Return whether runs agree in every bit of the series, and in every loss up to an
        iteration.

        None: could not be decided.
        """
        if verdict.exit_code == 1:
            return False
        if verdict.verdict != "reproducible":
            return None
        return any(map(self._is_equal, verdict.series)) and verdict.bitwise.equal_until(until)

    def outcome(self, run: Run) -> Hashable:
        """Return what tells a run from others: the values of every rank up to the first
        difference.
        """
        return tuple(map(self._values, run.traces))

    def is_finite(self, run: Run) -> bool:
        """Return whether every rank has a finite number at the first difference."""
        return all(map(math.isfinite, map(self._value, run.traces)))

    def _is_equal(self, row: SeriesComparison) -> bool:
        """Return whether a row is that of the series, and equal in every bit."""
        return (row.reported, row.by, row.state) == (self.name, self.by, "equal")

    def _values(self, trace: Trace) -> Hashable:
        """Return the values of a rank, and those of them that a double does not hold."""
        numbers = trace.reported(self.name, self.by).numbers
        exact = sorted(item for item in numbers.exact.items() if item[0] < self.number)
        return trace.rank, numbers.values[: self.number].tobytes(), tuple(exact)

    def _value(self, trace: Trace) -> float:
        """Return the value of a rank at the first difference; one that was not reported is as good
        as a number: it tells runs apart.
        """
        value = trace.reported(self.name, self.by).value(self.number)
        return 0.0 if value is None else value


def target_of(check: Check) -> Target | None:
    """Return the series that is searched; None where losses differ, or no rule names one that
    differs.
    """
    row = check.verdict.failing_series(check.record.fail_on)
    if row is None or row.first_unequal is None:
        return None
    place = row.first_unequal
    return Target(name=row.reported, by=row.by, number=place.number, iteration=place.iteration)
