"""What the training reported beside its losses: the rows, the sentences and the curves that the
formats show of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from reprocheck.language import joined, mark, tr
from reprocheck.model import Check, Series, SeriesComparison, SeriesPlace
from reprocheck.report.curves import LIMIT, Curve, Curves
from reprocheck.report.json_parts import attributes
from reprocheck.report.text import UNKNOWN, line, number
from reprocheck.wording.verdict import numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CHARTS = 8
"""Series that are drawn: those that differ first."""

_MEANING = {
    "differs": mark("differs"),
    "within tolerance": mark("within the tolerance"),
    "equal": mark("equal in every bit"),
    "clock": mark("not compared"),
}


def heads() -> tuple[str, ...]:
    """Return the columns of `cells`."""
    return (
        *(tr("series"), tr("reported to"), tr("values"), tr("result")),
        *(tr("first differs"), tr("difference"), tr("allowed")),
    )


def rows(check: Check) -> list[SeriesComparison]:
    """Return the series of a check, those that differ first."""
    order = ("differs", "within tolerance", "equal", "clock")
    return sorted(check.verdict.series, key=lambda one: order.index(one.state))


def cells(row: SeriesComparison) -> tuple[str, ...]:
    """Return one row of the table: see `heads`."""
    place = row.first_difference
    where, difference, allowed = UNKNOWN, UNKNOWN, UNKNOWN
    if place is not None:
        where = tr("{where} ({sizes})", where=numbers.where(place), sizes=numbers.sizes(place))
        difference, allowed = number(row.max_difference), number(row.allowed)
    by = row.by or "reprocheck.log"
    return (
        line(row.name),
        line(by),
        f"{row.values:,}",
        tr(_MEANING[row.state]),
        where,
        difference,
        allowed,
    )


def summary(check: Check) -> tuple[str, str]:
    """(headline, detail) of all series that were compared; empty where none was reported."""
    compared = list(filter(attrgetter("compared"), check.verdict.series))
    if not compared:
        return "", ""
    differing = check.verdict.differing_series
    if differing:
        return tr(
            "{differing} of {compared} differ", differing=len(differing), compared=len(compared)
        ), _named(differing[0])
    unequal = list(filter(attrgetter("unequal"), compared))
    if unequal:
        detail = tr(
            "{unequal} of them differ in bits, first {named}",
            unequal=len(unequal),
            named=_named(unequal[0]),
        )
        return tr("{compared} within the tolerance", compared=len(compared)), detail
    return tr("{compared} equal", compared=len(compared)), joined(
        tr(", "), (line(one.name) for one in compared)
    )


def _named(row: SeriesComparison) -> str:
    """`val_loss from step 100 (0.25 against 0.26)`."""
    place = row.first_difference
    assert place is not None, "a series that is not equal differs somewhere"
    return tr(
        "{name} from {where} ({sizes})",
        name=line(row.name),
        where=numbers.where(place),
        sizes=numbers.sizes(place),
    )


def clocks(check: Check) -> str:
    """Return what is said of series that were taken for a clock's; "" where none were."""
    names = [line(one.name) for one in check.verdict.series if one.state == "clock"]
    if not names:
        return ""
    return tr(
        "Not compared: {names}. These differ while every loss agrees in every bit, and"
        " their names are those of times, speeds or memory. `--fail-on series:NAME` compares one"
        " all the same.",
        names=joined(tr(", "), names),
    )


def document(check: Check) -> list[dict[str, object]]:
    """`series` in report.json."""
    return [_row(row) for row in check.verdict.series]


def _row(row: SeriesComparison) -> dict[str, object]:
    names = ("name", "by", "state", "values", "max_difference", "allowed")
    return {
        **attributes(row, *names),
        "first_unequal": _place(row.first_unequal),
        "first_outside": _place(row.first_outside),
    }


def _place(place: SeriesPlace | None) -> dict[str, object] | None:
    if place is None:
        return None
    names = ("number", "iteration", "step", "run", "rank", "reference", "value")
    return attributes(place, *names)


def drawn(check: Check) -> Iterator[tuple[SeriesComparison, Curves, str]]:
    """Yield the series that are drawn, each with its curves and the name of its axis."""
    for row in rows(check)[:MOST_CHARTS]:
        place = row.first_difference
        rank = 0 if place is None else place.rank
        traces = [(run.number, run.by_rank[rank]) for run in check.runs if rank in run.by_rank]
        of_runs = [(number, trace.reported(row.reported, row.by)) for number, trace in traces]
        yield row, *_curves(of_runs, rank)


def _curves(of_runs: list[tuple[int, Series]], rank: int) -> tuple[Curves, str]:
    import numpy as np

    _, longest = max(of_runs, key=lambda one: len(one[1]))
    picks = np.arange(len(longest))
    if len(picks) > LIMIT:
        picks = np.unique(np.linspace(0, len(longest) - 1, LIMIT).astype(np.int64))
    steps, axis = np.asarray(longest.steps), mark("step")
    if not np.isfinite(steps).all():
        steps, axis = np.asarray(longest.iterations), mark("iteration")
    curves = tuple(
        Curve(run=run, rank=rank, values=_values(series, picks)) for run, series in of_runs
    )
    made = Curves(
        iterations=steps[picks],
        total=len(longest),
        losses=curves,
        bands=(),
        differences=(),
        allowed=(),
        not_finite=(),
        first_divergence=None,
        ranks=(rank,),
        ranks_total=1,
    )
    return made, axis


def _values(series: Series, picks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values at these places; NaN where there is none, or none that can be drawn."""
    import numpy as np

    values = np.full(len(picks), np.nan)
    there = picks < len(series)
    values[there] = np.asarray(series.numbers.values)[picks[there]]
    values[~np.isfinite(values)] = np.nan
    return values
