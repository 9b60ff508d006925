"""Compare the series that a training reported beside its losses.

Such as accuracy, as losses are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from reprocheck.model import LOSS_SERIES, Run, Series, SeriesComparison, SeriesPlace, Tolerance
from reprocheck.verdict.machine import is_of_a_machine
from reprocheck.verdict.series import align, first_outside, first_unequal


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pair:
    """One series of one rank, in a run and in run 1.

    own        the series in the run; without values if it was not reported
    reference  the series in run 1; without values if it was not reported
    run        the number of the run
    rank       the rank that reported the series
    complete   whether both runs ended as planned, so that a missing value is a difference
    """

    own: Series
    reference: Series
    run: int
    rank: int
    complete: bool

    def place(self, number: int) -> SeriesPlace:
        """Return where value `number` (from 1) was reported."""
        longer = max(self.reference, self.own, key=len)
        return SeriesPlace(
            number=number,
            iteration=longer.iterations[number - 1],
            step=longer.step(number),
            run=self.run,
            rank=self.rank,
            reference=self.reference.value(number),
            value=self.own.value(number),
        )

    @property
    def first_unequal(self) -> SeriesPlace | None:
        """The first value that differs from run 1 in any bit."""
        unequal = first_unequal(self.own.numbers, self.reference.numbers)
        if unequal is None or (unequal.ends and not self.complete):
            return None
        return self.place(unequal.iteration)

    def first_outside(self, tolerance: Tolerance) -> SeriesPlace | None:
        """Return the first value outside the tolerance, or missing in one of the two runs."""
        outside = first_outside(self.own.numbers, self.reference.numbers, tolerance)
        if outside is None or (outside.value is None and not self.complete):
            return None
        return self.place(outside.iteration)


def compare_series(
    runs: Sequence[Run], tolerance: Tolerance, *, losses_equal: bool
) -> tuple[SeriesComparison, ...]:
    """Return the comparison of every reported series, in the order of the first report.

    If `losses_equal` (every loss agrees in every bit), a differing series whose name is that of a
    time or of memory is taken for a measure of the machine, and is no difference.
    """
    if len(runs) < 2:
        return ()
    series = [one for run in runs for trace in run.traces for one in trace.series]
    by_name = dict.fromkeys(map(attrgetter("name", "by"), series))
    of_name = Counter(name for name, _ in by_name)
    rows = []
    for name, by in by_name:
        shown = name
        if name == LOSS_SERIES or of_name[name] > 1:
            shown = f"{by or 'script'}:{name}"
        pairs = list(_pairs(runs, name, by))
        row = replace(_row(pairs, tolerance), name=shown, reported=name, by=by)
        if losses_equal and row.state != "equal" and is_of_a_machine(name):
            row = replace(row, state="clock")
        rows.append(row)
    return tuple(rows)


def _pairs(runs: Sequence[Run], name: str, by: str) -> Iterator[_Pair]:
    """Yield a series of every rank in every later run, together with the same series in run 1."""
    first = runs[0]
    for run in runs[1:]:
        complete = run.record.ended_as_planned and first.record.ended_as_planned
        own, references = run.by_rank, first.by_rank
        for rank in sorted(own.keys() & references.keys()):
            yield _Pair(
                own=own[rank].reported(name, by),
                reference=references[rank].reported(name, by),
                run=run.number,
                rank=rank,
                complete=complete,
            )


def _row(pairs: Sequence[_Pair], tolerance: Tolerance) -> SeriesComparison:
    unequal = filter(None, map(attrgetter("first_unequal"), pairs))
    outside = filter(None, (pair.first_outside(tolerance) for pair in pairs))
    row = SeriesComparison(
        values=max((len(pair.reference) for pair in pairs), default=0),
        first_unequal=_earliest(unequal),
        first_outside=_earliest(outside),
    )
    largest = max((_largest(pair, tolerance) for pair in pairs), default=_NO_DIFFERENCE)
    _, difference, allowed = largest
    row = replace(row, max_difference=difference, allowed=allowed)
    if row.first_outside is not None:
        return replace(row, state="differs")
    if row.first_unequal is not None:
        return replace(row, state="within tolerance")
    return row


def _earliest(places: Iterator[SeriesPlace]) -> SeriesPlace | None:
    return min(places, key=attrgetter("iteration", "number", "run", "rank"), default=None)


_NO_DIFFERENCE = (0.0, 0.0, 0.0)


def _largest(pair: _Pair, tolerance: Tolerance) -> tuple[float, float, float]:
    """Return the largest ratio of difference to tolerance, with the two numbers."""
    import numpy as np

    both = align(pair.own.numbers, pair.reference.numbers)
    finite = np.isfinite(both.values) & np.isfinite(both.reference)
    value, reference = both.values[finite], both.reference[finite]
    if not value.size:
        return _NO_DIFFERENCE
    with np.errstate(over="ignore"):
        difference = np.abs(value - reference)
    allowed = tolerance.atol + tolerance.rtol * np.abs(reference)
    # A tolerance of 0 allows nothing: any difference is infinitely more.
    share = np.divide(difference, allowed, out=np.full_like(difference, np.inf), where=allowed > 0)
    share[difference == 0] = 0.0
    place = int(np.argmax(share))
    return float(share[place]), float(difference[place]), float(allowed[place])
