"""Draw loss and difference charts as pictures, SVG and PNG.

Matplotlib Figures, never pyplot; the same bytes for the same check. A page draws its own
(`page_charts`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, repeat
from typing import TYPE_CHECKING, TypeVar

from reprocheck.report.curves import Curve, Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reprocheck.report.curves import Array

T = TypeVar("T")

INK, MUTED, GRID, PAPER, LIMIT, MARK = (
    "#1d2430",
    "#5b6575",
    "#e3e7ed",
    "#fefefe",
    "#3a4252",
    "#8a5a00",
)
RUNS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Of Okabe and Ito, to be told apart with every kind of colour vision
(https://jfly.uni-koeln.de/color/). Black is *allowed*, and yellow is too light for a thin line; a
seventh run has the colour of the first in another dash.
"""
DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = (
    "solid",
    (0, (8, 4)),
    (0, (2, 3)),
    (0, (8, 3, 2, 3)),
)
"""As in report.js and report.css: solid, dashed, dotted, dashes and dots."""


@dataclass(frozen=True, slots=True)
class _Stroke:
    width: float
    alpha: float
    marker: float


_STROKES = {
    True: _Stroke(width=3.4, alpha=0.55, marker=5.5),
    False: _Stroke(width=1.5, alpha=1.0, marker=3.6),
}
"""Whether a curve is that of run 1 -> how it is drawn."""
_SIZE = (9.2, 3.5)
"""Inches of a chart."""
MOST_LABELS = 10
"""Entries of a legend."""


def loss_figure(curves: Curves) -> Figure:
    """Draw the losses of all runs and ranks, with the tolerance band around run 1."""
    figure, axes = _figure("loss")
    for band, name in _named_once(curves.bands, "allowed around run 1"):
        axes.fill_between(
            curves.iterations,
            band.low,
            band.high,
            color=RUNS[0],
            alpha=0.16,
            linewidth=0,
            label=name,
        )
    for curve in curves.losses:
        _draw(axes, curves, curve, label(curve, curves))
    _mark(axes, curves)
    if logarithmic(curves):
        low = min(_positive(curve.values for curve in curves.losses))
        axes.set_yscale("log")
        axes.set_ylim(bottom=low / 3)
    _crosses(axes, curves)
    _finish(axes, curves, empty="no loss was recorded")
    return figure


def difference_figure(curves: Curves) -> Figure:
    """Return a chart of |loss − loss of run 1| for every later run, with the allowed difference.

    On a log scale.

    Zero has a line of its own at the bottom.
    """
    import numpy as np

    figure, axes = _figure("|difference from run 1|")
    bottom = floor(curves)
    for curve, name in _named_once(curves.allowed, "allowed"):
        values = np.where(curve.values <= 0, bottom, curve.values)
        axes.plot(
            curves.iterations,
            values,
            color=LIMIT,
            linewidth=1.4,
            linestyle=(0, (5, 2)),
            label=name,
            zorder=4,
        )
    for curve in curves.differences:
        raised = Curve(
            run=curve.run, rank=curve.rank, values=np.where(curve.values <= 0, bottom, curve.values)
        )
        _draw(axes, curves, raised, label(curve, curves))
    axes.set_yscale("log")
    _zero_line(axes, curves, bottom)
    _mark(axes, curves)
    _crosses(axes, curves)
    _finish(axes, curves, empty="nothing to compare")
    return figure


def label(curve: Curve, curves: Curves) -> str:
    """Return the legend label of a curve: `run 2`; of several ranks `run 2, rank 1`."""
    if curves.ranks_total > 1:
        return f"run {curve.run}, rank {curve.rank}"
    return f"run {curve.run}"


def dash(curve: Curve, curves: Curves) -> int:
    """Return the index in `DASHES` for a curve.

    By its rank if several ranks are drawn, else by its run; solid for the first two runs.
    """
    position = max(0, curve.run - 2)
    if len(curves.ranks) > 1:
        position = curves.ranks.index(curve.rank)
    return position % len(DASHES)


def logarithmic(curves: Curves) -> bool:
    """Return whether the losses are drawn on a log scale.

    They are all positive, and extend over more than three decades.
    """
    import numpy as np

    every = np.concatenate([np.empty(0), *(curve.values for curve in curves.losses)])
    finite = every[np.isfinite(every)]
    if not len(finite):
        return False
    least, most = float(finite.min()), float(finite.max())
    return least > 0 and most / least > 1000


def floor(curves: Curves) -> float:
    """Return the position of zero on the log scale.

    A decade below the smallest difference, and well below the allowed difference.
    """
    import math

    differences = _positive(curve.values for curve in curves.differences)
    allowed = _positive(curve.values for curve in curves.allowed)
    anchors = [*differences[:1], *(least * 1e-3 for least in allowed[:1])]
    anchor = min(anchors, default=1e-6)
    return float(10.0 ** (math.floor(math.log10(max(anchor, 1e-300))) - 1))


def decade(exponent: int) -> str:
    """Return the label of a power of ten: `1e-3`, `0.1`, `1`, `10`, `1e2`."""
    return {-1: "0.1", 0: "1", 1: "10"}.get(exponent, f"1e{exponent}")


def svg(figure: Figure) -> str:
    """Return the figure as an SVG document with text as text."""
    import matplotlib

    buffer = BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "reprocheck"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue().decode()


def png(figure: Figure) -> bytes:
    """Return the figure as PNG, 1196 pixels wide."""
    buffer = BytesIO()
    figure.savefig(
        buffer, format="png", dpi=130, metadata={"Software": None}, pil_kwargs={"compress_level": 3}
    )
    return buffer.getvalue()


def warm_up() -> None:
    """Draw and throw away a figure, so that fonts and back ends are loaded."""
    import numpy as np

    line = Curve(run=1, rank=0, values=np.array([1.0, 0.5]))
    sample = Curves(
        iterations=np.array([1, 2]), total=2, losses=(line,), bands=(), differences=(line,),
        allowed=(line,), not_finite=(), first_divergence=None, ranks=(0,), ranks_total=1,
    )  # fmt: skip
    png(difference_figure(sample))
    svg(loss_figure(sample))


def _figure(quantity: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, facecolor=PAPER)
    axes = figure.add_subplot()
    figure.subplots_adjust(left=0.092, right=0.985, top=0.9, bottom=0.135)
    axes.set_facecolor(PAPER)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GRID)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=MUTED, labelsize=9, length=0)
    axes.tick_params(which="minor", length=0, labelsize=0)
    axes.set_xlabel("iteration", color=MUTED, fontsize=9)
    axes.set_ylabel(quantity, color=MUTED, fontsize=9)
    return figure, axes


def _draw(axes: Axes, curves: Curves, curve: Curve, name: str) -> None:
    """Draw a curve: run 1 as a broad line, other runs thinner on top.

    Equal curves stay visible.
    """
    stroke = _STROKES[curve.run == 1]
    marker = None
    if len(curves.iterations) <= 60:
        marker = "o"
    axes.plot(
        curves.iterations,
        curve.values,
        color=RUNS[(curve.run - 1) % len(RUNS)],
        linewidth=stroke.width,
        alpha=stroke.alpha,
        linestyle=DASHES[dash(curve, curves)],
        marker=marker,
        markersize=stroke.marker,
        label=name,
        zorder=2 + 0.01 * curve.run,
        solid_capstyle="round",
    )


def _mark(axes: Axes, curves: Curves) -> None:
    """Draw a labelled vertical line at the first divergence."""
    where = curves.first_divergence
    if where is None:
        return
    axes.axvline(where, color=MARK, linewidth=1.2, linestyle=(0, (1, 2)), zorder=1)
    anchor, shift = "left", 6
    if where > 0.6 * curves.total:  # the name would reach over the right edge
        anchor, shift = "right", -6
    axes.annotate(
        f"first divergence: iteration {where:,}",
        xy=(where, 1.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(shift, -9),
        textcoords="offset points",
        ha=anchor,
        va="center",
        color=MARK,
        fontsize=9,
    )


def _crosses(axes: Axes, curves: Curves) -> None:
    """Draw a cross near the top for each loss that is NaN or infinite, a row for each run.

    The curve has a gap there.
    """
    found: dict[int, list[int]] = defaultdict(list)
    for iteration, run, _ in curves.not_finite:
        found[run].append(iteration)
    for row, (run, name) in enumerate(_named_once(sorted(found), "NaN or infinite")):
        axes.plot(
            found[run],
            [0.9 - 0.05 * (row % 4)] * len(found[run]),
            "x",
            transform=axes.get_xaxis_transform(),
            color=RUNS[(run - 1) % len(RUNS)],
            markersize=6,
            markeredgewidth=1.6,
            label=name,
        )


def _named_once(things: Iterable[T], name: str) -> Iterator[tuple[T, str | None]]:
    """Pair the first thing with a name for the legend, and all others with None."""
    return zip(things, chain([name], repeat(None)))  # noqa: B905, without end on purpose


def _zero_line(axes: Axes, curves: Curves, bottom: float) -> None:
    """Label the line of zero, keep only as many decades as fit, and leave room above."""
    import math

    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    drawn = (*curves.differences, *curves.allowed)
    values = _positive(curve.values for curve in drawn) or [1e-3]
    top = math.ceil(math.log10(max(values)) + 0.2)
    lowest = round(math.log10(bottom))
    step = max(1, math.ceil((top - lowest) / 7))
    decades = [10.0**exponent for exponent in range(lowest + step, top + 1, step)]
    axes.set_ylim(bottom / 2, 10.0**top)
    axes.yaxis.set_major_locator(FixedLocator([bottom, *decades]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: "0" if value == bottom else decade(round(math.log10(value))))
    )
    axes.axhline(bottom, color=GRID, linewidth=1.6, zorder=0.5)


def _finish(axes: Axes, curves: Curves, *, empty: str) -> None:
    """Add the legend and integer ticks, or say why nothing is drawn."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    handles, labels = axes.get_legend_handles_labels()
    if not len(curves.iterations) or not any(line for line in axes.lines if len(line.get_xdata())):  # type: ignore[arg-type]
        axes.text(
            0.5,
            0.5,
            empty,
            transform=axes.transAxes,
            ha="center",
            va="center",
            color=MUTED,
            fontsize=11,
        )
    elif labels:
        if len(labels) > 5:
            axes.figure.subplots_adjust(top=0.84)
        axes.legend(
            handles[:MOST_LABELS], labels[:MOST_LABELS], loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=min(5, len(labels)), frameon=False, fontsize=9, labelcolor=INK,
            handlelength=2.6, columnspacing=1.4, borderaxespad=0.2,
        )  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(nbins=9, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    last = max(curves.total, 1)
    axes.set_xlim(1 - max(0.02 * (last - 1), 0.15), last + max(0.02 * (last - 1), 0.15))


def _positive(series: Iterable[Array]) -> list[float]:
    """Return the smallest and largest value above zero of several arrays.

    Empty if there is none.
    """
    import numpy as np

    every = np.concatenate([np.empty(0), *series])
    found = every[np.isfinite(every) & (every > 0)]
    if not len(found):
        return []
    return [float(found.min()), float(found.max())]
