"""The target of a search if all losses agree: a differing series that `--fail-on` names."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from reprocheck.model import Check, Run, Verdict


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
        """Return whether runs agree in every bit of the series, and of every loss up to an
        iteration.

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
        """Return the values of every rank up to the first difference, as a key that tells runs
        apart.
        """
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
    """Return the series that is searched; None if losses differ, or no differing series makes the
    check fail.
    """
    row = check.verdict.failing_series(check.record.fail_on)
    if row is None or row.first_unequal is None:
        return None
    place = row.first_unequal
    return Target(name=row.reported, by=row.by, number=place.number, iteration=place.iteration)
