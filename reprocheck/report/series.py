"""Report what the training reported beside its losses.

The rows, the sentences and the curves that the formats show of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from reprocheck.language import english, tr
from reprocheck.model import Check, Series, SeriesComparison, SeriesPlace
from reprocheck.report.blocks import Block, Chart, Fold, Section, Table, Text, section
from reprocheck.report.curves import LIMIT, Curve, Curves
from reprocheck.report.json_parts import attributes
from reprocheck.report.text import UNKNOWN, line, more, number
from reprocheck.wording.verdict import numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CHARTS = 8
"""Series that are drawn: those that differ first."""
SERIES_ROWS = 100

_MEANING = {
    "differs": "differs",
    "within tolerance": "within the tolerance",
    "equal": "equal in every bit",
    "clock": "not compared",
}


HEADS = (
    *("series", "reported to", "values", "result"),
    *("first differs", "difference", "allowed"),
)


def reported_series(check: Check, charts: Sequence[Chart] = ()) -> Section | None:
    """Return the section on the series besides the losses; None if none was reported.

    Their charts stand in the order of `rows`.
    """
    if not check.verdict.series:
        return None
    return section("series", tr("Series"), _blocks(check, charts))


def _blocks(check: Check, charts: Sequence[Chart]) -> Iterator[Block]:
    yield Text(
        "What the training reported beside its losses, compared as the losses are. The verdict is"
        " about the losses alone; `--fail-on series:NAME` makes a series count.",
        "lead",
    )
    yield table(check)
    differing = sum(row.state == "differs" for row in rows(check))
    yield from charts[:differing]
    alike = tuple(charts[differing:])
    if alike:
        title = f"Charts of series that do not differ: {len(alike)}"
        yield Fold(title=title, blocks=alike, detail=True)


def table(check: Check) -> Table:
    """Return a table with a row for each series; of very many series, those that differ first."""
    every = rows(check)
    shown = every[:SERIES_ROWS]
    hidden = more(len(every) - len(shown), "report.json", "more series", "more series")
    return Table(
        title=tr("Series"),
        heads=HEADS,
        rows=tuple(map(cells, shown)),
        numeric=frozenset({2, 5, 6}),
        marked=frozenset(index for index, row in enumerate(shown) if row.state == "differs"),
        note=" ".join(filter(None, (clocks(check), hidden))),
        strong=3,
        captioned=False,
    )


def rows(check: Check) -> list[SeriesComparison]:
    """Return the series of a check, those that differ first."""
    order = ("differs", "within tolerance", "equal", "clock")
    return sorted(check.verdict.series, key=lambda one: order.index(one.state))


def cells(row: SeriesComparison) -> tuple[str, ...]:
    """Return one row of the table: see `HEADS`."""
    place = row.first_difference
    where, difference, allowed = UNKNOWN, UNKNOWN, UNKNOWN
    if place is not None:
        where = f"{english(numbers.where(place))} ({english(numbers.sizes(place))})"
        difference, allowed = number(row.max_difference), number(row.allowed)
    by = row.by or "reprocheck.log"
    return (
        line(row.name),
        line(by),
        f"{row.values:,}",
        _MEANING[row.state],
        where,
        difference,
        allowed,
    )


def summary(check: Check) -> tuple[str, str]:
    """Return (headline, detail) on all series that were compared; empty if none was reported."""
    compared = list(filter(attrgetter("compared"), check.verdict.series))
    if not compared:
        return "", ""
    differing = check.verdict.differing_series
    if differing:
        return f"{len(differing)} of {len(compared)} differ", _named(differing[0])
    unequal = list(filter(attrgetter("unequal"), compared))
    if unequal:
        detail = f"{len(unequal)} of them differ in bits, first {_named(unequal[0])}"
        return f"{len(compared)} within the tolerance", detail
    return f"{len(compared)} equal", ", ".join(line(one.name) for one in compared)


def _named(row: SeriesComparison) -> str:
    """Return the first difference of a series: `val_loss from step 100 (0.25 against 0.26)`."""
    place = row.first_difference
    assert place is not None, "a series that is not equal differs somewhere"
    where, sizes = english(numbers.where(place)), english(numbers.sizes(place))
    return f"{line(row.name)} from {where} ({sizes})"


def clocks(check: Check) -> str:
    """Return a sentence on series that were taken for clock times; "" if there are none."""
    names = [line(one.name) for one in check.verdict.series if one.state == "clock"]
    if not names:
        return ""
    return (
        f"Not compared: {', '.join(names)}. These differ while every loss agrees in every bit, and"
        " their names are those of times, speeds or memory. `--fail-on series:NAME` compares one"
        " all the same."
    )


def document(check: Check) -> list[dict[str, object]]:
    """Return the part `series` of report.json."""
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
    """Yield the series to draw, each with its curves and the label of its axis."""
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
    steps, axis = np.asarray(longest.steps), "step"
    if not np.isfinite(steps).all():
        steps, axis = np.asarray(longest.iterations), "iteration"
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
    """Return the values at these positions; NaN if there is none, or none that can be drawn."""
    import numpy as np

    values = np.full(len(picks), np.nan)
    there = picks < len(series)
    values[there] = np.asarray(series.numbers.values)[picks[there]]
    values[~np.isfinite(values)] = np.nan
    return values
