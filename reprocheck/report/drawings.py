"""The charts of a check as elements of its page, and the data with which they come alive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprocheck.model import Check
from reprocheck.report import charts, page_charts, series
from reprocheck.report.blocks import Chart
from reprocheck.report.curves import Curve, Curves
from reprocheck.report.text import line

if TYPE_CHECKING:
    import numpy as np

LOSS_TITLE = "Loss of every run over the iterations, with the tolerance around run 1"
DIFFERENCE_TITLE = (
    "Difference from run 1 over the iterations on a logarithmic scale, with what is allowed"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesDrawing:
    """The chart of a series, its curves, and the label of its horizontal axis."""

    name: str
    chart: Chart
    curves: Curves
    axis: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawings:
    """All that is drawn of a check, as SVG elements."""

    curves: Curves
    preview: str
    loss: str
    difference: str
    series: tuple[SeriesDrawing, ...]


def drawings(check: Check, curves: Curves) -> Drawings:
    """Return the drawings of a page."""
    loss = page_charts.loss_plot(curves)
    return Drawings(
        curves=curves,
        preview=page_charts.preview(loss, LOSS_TITLE) if curves.total else "",
        loss=page_charts.chart(loss, LOSS_TITLE),
        difference=page_charts.chart(page_charts.difference_plot(curves), DIFFERENCE_TITLE),
        series=tuple(_series_drawings(check)),
    )


def _series_drawings(check: Check) -> Iterator[SeriesDrawing]:
    """Yield each series that is drawn."""
    for number, (row, curves, axis) in enumerate(series.drawn(check), start=1):
        name = line(row.name)
        title = f"{name} of every run over its {axis}s"
        svg = page_charts.chart(page_charts.series_plot(curves, name, axis), title)
        chart = Chart(id=f"series-chart-{number}", title=title, svg=svg)
        yield SeriesDrawing(name=name, chart=chart, curves=curves, axis=axis)


def data(drawn: Drawings) -> dict[str, Any]:
    """Return what report.js draws: x and series with null for gaps.

    The series beside the losses each have an x of their own. `#` in a text stands for a number.
    """
    import numpy as np

    curves = drawn.curves
    bottom = charts.floor(curves)
    raised = [np.where(one.values <= 0, bottom, one.values) for one in curves.differences]
    allowed = [np.where(one.values <= 0, bottom, one.values) for one in curves.allowed]
    return {
        "x": curves.iterations.tolist(),
        "loss": {
            "log": charts.logarithmic(curves),
            "bands": [
                {"low": _numbers(band.low), "high": _numbers(band.high)} for band in curves.bands
            ],
            "series": [_series(curve, curves, curve.values) for curve in curves.losses],
        },
        "difference": {
            "floor": bottom,
            "allowed": list(map(_numbers, allowed)),
            "series": [
                _series(curve, curves, values)
                for curve, values in zip(curves.differences, raised, strict=True)
            ],
        },
        "firstDivergence": curves.first_divergence,
        "notFinite": [[iteration, run] for iteration, run, _ in curves.not_finite[:500]],
        "reported": list(map(_reported, drawn.series)),
        "words": {
            "iteration": "iteration",
            "loss": "loss",
            "difference": "|difference from run 1|",
            "allowed": "allowed",
            "place": "iteration #",
            "first": "first divergence: iteration #",
        },
    }


def _reported(drawing: SeriesDrawing) -> dict[str, Any]:
    curves = drawing.curves
    return {
        "id": drawing.chart.id,
        "name": drawing.name,
        "axis": drawing.axis,
        "x": curves.iterations.tolist(),
        "series": [_series(curve, curves, curve.values) for curve in curves.losses],
    }


def _series(
    curve: Curve, curves: Curves, values: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> dict[str, Any]:
    return {
        "label": charts.label(curve, curves),
        "run": curve.run,
        "colour": (curve.run - 1) % len(charts.RUNS) + 1,
        "dash": charts.dash(curve, curves),
        "values": _numbers(values),
    }


def _numbers(
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> list[float | None]:
    """Return the values to draw, with the nine digits that distinguish any two float32 numbers."""
    return [
        float(f"{value:.9g}") if value == value and abs(value) != float("inf") else None
        for value in values.tolist()
    ]
