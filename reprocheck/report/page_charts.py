"""The charts of a page as SVG elements, drawn without a library, so that a page needs no picture.

They are seen beside the verdict, on paper, and where no script runs; colours and font are those of
the page's style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from reprocheck.report import charts
from reprocheck.report.curves import Curve, Curves

if TYPE_CHECKING:
    from reprocheck.report.curves import Array

DASHES = ("", "8 4", "2 3", "8 3 2 3")
"""As in charts.py and report.js: solid, dashed, dotted, dashes and dots."""
_FEW = 60
"""Up to so many iterations each value has a dot."""
_LETTER, _LARGE_LETTER = 6.6, 8
"""Width of a letter of the legend on average, and of one beside the verdict."""
_SAMPLE, _BETWEEN, _ROW = 26, 14, 18
"""Width of a line in the legend, room between its entries, height of a row of it."""
_BELOW = 44
"""Room for what stands below the horizontal axis."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A curve: one value for each x, NaN where there is none.

    `label`: "" for no entry in the legend.
    """

    label: str
    values: Array
    colour: str
    dash: str = ""
    width: float = 1.8
    opacity: float = 1.0
    dot: float = 2.8


@dataclass(frozen=True, kw_only=True, slots=True)
class Plot:
    """What a chart shows.

    axis      what is counted from left to right, and `quantity` from bottom to top
    areas     lower and upper end of each shaded area
    log       whether values stand on a logarithmic scale
    zero      the value on that scale that stands for zero
    mark      where the dotted line of the first divergence stands
    border    where the dashed line of a checkpoint stands
    crosses   x and run of what is NaN or infinite
    empty     what stands there where nothing can be drawn
    """

    x: Sequence[float]
    last: float
    axis: str
    quantity: str
    lines: tuple[Line, ...]
    empty: str
    areas: tuple[tuple[Array, Array], ...] = ()
    log: bool = False
    zero: float | None = None
    mark: float | None = None
    border: float | None = None
    crosses: tuple[tuple[float, int], ...] = ()


def loss_plot(curves: Curves) -> Plot:
    """Return the losses of every run and rank, with the tolerance band around run 1."""
    return Plot(
        x=curves.iterations.tolist(),
        last=max(curves.total, 1),
        axis="iteration",
        quantity="loss",
        lines=tuple(_line(curve, curves) for curve in curves.losses),
        areas=tuple((band.low, band.high) for band in curves.bands),
        log=charts.logarithmic(curves),
        mark=curves.first_divergence,
        crosses=tuple((iteration, run) for iteration, run, _ in curves.not_finite),
        empty="no loss was recorded",
    )


def difference_plot(curves: Curves) -> Plot:
    """Return how far the losses are from those of run 1, with what is allowed.

    Zero has a line of its own at the bottom of the logarithmic scale.
    """
    zero = charts.floor(curves)
    allowed = (
        Line(
            label="" if index else "allowed",
            values=_raised(curve, zero),
            colour="--limit",
            dash="7 4",
            dot=0,
        )
        for index, curve in enumerate(curves.allowed)
    )
    lines = (_line(curve, curves, _raised(curve, zero)) for curve in curves.differences)
    return Plot(
        x=curves.iterations.tolist(),
        last=max(curves.total, 1),
        axis="iteration",
        quantity="|difference from run 1|",
        lines=(*allowed, *lines),
        log=True,
        zero=zero,
        mark=curves.first_divergence,
        crosses=tuple((iteration, run) for iteration, run, _ in curves.not_finite),
        empty="nothing to compare",
    )


def series_plot(curves: Curves, name: str, axis: str) -> Plot:
    """Return a series of every run over its steps."""
    x = curves.iterations.tolist()
    return Plot(
        x=x,
        last=max(x, default=1),
        axis=axis,
        quantity=name,
        lines=tuple(_line(curve, curves) for curve in curves.losses),
        empty="no finite value was reported",
    )


def _line(curve: Curve, curves: Curves, values: Array | None = None) -> Line:
    """Return a curve as a line: run 1 is a broad one, others are thinner on top.

    Equal curves stay visible.
    """
    broad = curve.run == 1
    return Line(
        label=charts.label(curve, curves),
        values=curve.values if values is None else values,
        colour=f"--run-{(curve.run - 1) % len(charts.RUNS) + 1}",
        dash=DASHES[charts.dash(curve, curves)],
        width=4 if broad else 1.8,
        opacity=0.55 if broad else 1.0,
        dot=4 if broad else 2.6,
    )


def _raised(curve: Curve, zero: float) -> Array:
    import numpy as np

    return np.where(curve.values <= 0, zero, curve.values)


def chart(plot: Plot, title: str) -> str:
    """Return a chart as an SVG element with a title for screen readers."""
    return _Drawing(plot, width=920, height=350, left=74).element("chart-static", title)


def preview(plot: Plot, title: str) -> str:
    """Return a small chart, to be shown next to the verdict."""
    drawing = _Drawing(plot, width=340, height=190, left=64, most_labels=3)
    return drawing.element("chart-preview", title)


class _Drawing:
    """A chart of some size; `left` is the room for what stands beside the vertical axis."""

    def __init__(
        self, plot: Plot, *, width: int, height: int, left: int, most_labels: int = 10
    ) -> None:
        self.plot, self.width, self.height = plot, width, height
        self.letter = _LETTER if height > 200 else _LARGE_LETTER
        self.rows = list(_legend(plot, most_labels, width - left, self.letter))
        self.left, self.right = left, width - 12
        self.top, self.bottom = 12 + _ROW * max(1, len(self.rows)), height - _BELOW
        self.low, self.high = _range(plot)
        first = min(plot.x, default=1) if plot.axis != "iteration" else 1
        room = max(0.02 * (plot.last - first), 0.15)
        self.first, self.last = first - room, plot.last + room

    def across(self, x: float) -> float:
        share = (x - self.first) / (self.last - self.first)
        return round(self.left + share * (self.right - self.left), 1)

    def up(self, value: float) -> float:
        share = (self._scaled(value) - self.low) / (self.high - self.low)
        return round(self.bottom - share * (self.bottom - self.top), 1)

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, 1e-320)) if self.plot.log else value

    def element(self, kind: str, title: str) -> str:
        head = (
            f'<svg class="{kind}" role="img" aria-label="{escape(title)}"'
            f' viewBox="0 0 {self.width} {self.height}">'
        )
        if not any(map(len, map(_known, self.plot.lines))):
            middle = f'x="{self.width / 2:.0f}" y="{self.height / 2:.0f}"'
            return f'{head}<text class="place" {middle}>{self.plot.empty}</text></svg>'
        parts = (*self._axes(), *self._areas(), *self._marks(), *self._lines(), *self._crosses())
        return "".join((head, *parts, *self._entries(), "</svg>"))

    def _axes(self) -> Iterator[str]:
        for value, name in _values(self.plot, self.low, self.high, 7 if self.height > 200 else 4):
            y = self.up(value)
            yield f'<path class="rule" d="M{self.left} {y}H{self.right}"/>'
            yield f'<text class="value" x="{self.left - 7}" y="{y + 4}">{name}</text>'
        for x in _places(self.first, self.last, 9 if self.width > 400 else 5):
            at = f'x="{self.across(x)}" y="{self.bottom + 17}"'
            yield f'<text class="place" {at}>{x:,.0f}</text>'
        middle = round((self.left + self.right) / 2)
        yield f'<text class="place" x="{middle}" y="{self.height - 6}">{self.plot.axis}</text>'
        centre = round((self.top + self.bottom) / 2)
        turned = f'transform="rotate(-90 12 {centre})" x="12" y="{centre}"'
        yield f'<text class="place" {turned}>{escape(self.plot.quantity)}</text>'

    def _areas(self) -> Iterator[str]:
        for low, high in self.plot.areas:
            for piece in _pieces(zip(self.plot.x, low.tolist(), high.tolist(), strict=True)):
                there = (f"{self.across(x)} {self.up(above)}" for x, _, above in piece)
                back = (f"{self.across(x)} {self.up(below)}" for x, below, _ in reversed(piece))
                yield f'<path class="area" d="M{"L".join((*there, *back))}Z"/>'

    def _lines(self) -> Iterator[str]:
        for line in self.plot.lines:
            pieces = list(_pieces(zip(self.plot.x, line.values.tolist(), strict=True)))
            # a piece of no length is a dot by its round ends
            path = "".join(
                f"M{'L'.join(f'{self.across(x)} {self.up(y)}' for x, y in piece)}h0"
                for piece in pieces
            )
            yield f'<path class="line" {_stroke(line)} d="{path}"/>'
            if len(self.plot.x) <= _FEW and line.dot:
                dots = (
                    f'<circle cx="{self.across(x)}" cy="{self.up(y)}" r="{line.dot}"/>'
                    for piece in pieces
                    for x, y in piece
                )
                yield f'<g style="fill:var({line.colour})">{"".join(dots)}</g>'

    def _marks(self) -> Iterator[str]:
        if self.plot.border is not None:
            x = self.across(self.plot.border)
            yield f'<path class="border" d="M{x} {self.top}V{self.bottom}"/>'
        if self.plot.mark is None:
            return
        x = self.across(self.plot.mark)
        yield f'<path class="mark" d="M{x} {self.top}V{self.bottom}"/>'
        if self.height < 200:
            return
        text = f"first divergence: iteration {self.plot.mark:,.0f}"
        side = f'x="{x + 6}"'
        if x > 0.6 * self.width:  # it would reach over the right edge
            side = f'x="{x - 6}" text-anchor="end"'
        yield f'<text class="first" {side} y="{self.top + 12}">{text}</text>'

    def _crosses(self) -> Iterator[str]:
        for x, run in self.plot.crosses:
            at, y = self.across(x), self.top + 26 + 10 * ((run - 1) % 4)
            colour = f"--run-{(run - 1) % len(charts.RUNS) + 1}"
            shape = f"M{at - 3.5} {y - 3.5}l7 7m0 -7l-7 7"
            yield f'<path class="line" style="stroke:var({colour});stroke-width:2" d="{shape}"/>'

    def _entries(self) -> Iterator[str]:
        """Yield the legend, above the chart at its right edge."""
        for row, entries in enumerate(self.rows):
            x = self.right - sum(_width(entry, self.letter) for entry in entries)
            y = 12 + _ROW * row
            for entry in entries:
                yield f'<path class="line" {_stroke(entry)} d="M{x:.0f} {y}h{_SAMPLE}"/>'
                yield f'<text x="{x + _SAMPLE + 5:.0f}" y="{y + 4}">{escape(entry.label)}</text>'
                x += _width(entry, self.letter)


def _legend(plot: Plot, most: int, room: float, letter: float) -> Iterator[list[Line]]:
    """Yield the rows of the legend, each no wider than `room`."""
    import numpy as np

    entries = [line for line in plot.lines if line.label]
    nothing = np.empty(0)
    if plot.areas and most > 3:
        area = Line(
            label="allowed around run 1", values=nothing, colour="--run-1", width=9, opacity=0.2
        )
        entries.insert(0, area)
    if plot.crosses and most > 3:
        entries.append(Line(label="× NaN or infinite", values=nothing, colour="--muted", opacity=0))
    row: list[Line] = []
    for entry in entries[:most]:
        if row and sum(_width(one, letter) for one in (*row, entry)) > room:
            yield row
            row = []
        row.append(entry)
    if row:
        yield row


def _width(entry: Line, letter: float) -> float:
    return _SAMPLE + 5 + letter * len(entry.label) + _BETWEEN


def _stroke(line: Line) -> str:
    dash = f";stroke-dasharray:{line.dash}" if line.dash else ""
    return (
        f'style="stroke:var({line.colour});stroke-width:{line.width};opacity:{line.opacity}{dash}"'
    )


def _known(line: Line) -> Array:
    import numpy as np

    return line.values[np.isfinite(line.values)]


def _pieces(points: Iterable[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """Yield the stretches of points that lie between those that are NaN."""
    piece: list[tuple[float, ...]] = []
    for point in points:
        if all(map(math.isfinite, point)):
            piece.append(point)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _range(plot: Plot) -> tuple[float, float]:
    """Return the lower and the upper end of the scale: powers of ten of a logarithmic one."""
    import numpy as np

    ends = [end for area in plot.areas for end in area]
    drawn = [values[np.isfinite(values)] for values in (*map(_known, plot.lines), *ends)]
    every = np.concatenate([np.empty(0), *drawn])
    if plot.log:
        every = every[every > 0]
    if not len(every):
        return 0.0, 1.0
    low, high = float(every.min()), float(every.max())
    if plot.zero is not None:
        return math.log10(plot.zero / 2), float(math.ceil(math.log10(high) + 0.2))
    if plot.log:
        least = min(float(values.min()) for values in map(_known, plot.lines) if len(values))
        return math.log10(least / 3), math.log10(high) + 0.1
    room = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
    return low - room, high + room


def _values(plot: Plot, low: float, high: float, about: int) -> Iterator[tuple[float, str]]:
    """Yield the values at which a scale has lines, with their names."""
    if not plot.log:
        yield from ((value, _short(value)) for value in ticks(low, high, about))
        return
    lowest, highest = math.ceil(low), math.floor(high)
    if plot.zero is not None:
        yield plot.zero, "0"
        lowest = round(math.log10(plot.zero)) + 1
    step = max(1, math.ceil((highest - lowest + 1) / about))
    for exponent in range(lowest, highest + 1, step):
        yield 10.0**exponent, charts.decade(exponent)


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers from `low` to `high`: steps of 1, 2 or 5 times a power of ten.

    >>> ticks(0.0, 1.1, 5)
    [0.0, 0.5, 1.0]
    """
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [number * step for number in range(first, last + 1)]


def _places(first: float, last: float, about: int) -> list[float]:
    """Return whole numbers of a horizontal axis."""
    return [x for x in ticks(first, last, about) if x == round(x)]


def _short(value: float) -> str:
    return f"{value:.6g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
