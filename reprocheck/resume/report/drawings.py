"""Draw the charts of a check of a resume.

Both losses on the axis of the continued run, and how far they are apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reprocheck.report import page_charts
from reprocheck.report.curves import Curve, Curves
from reprocheck.report.page_charts import Plot
from reprocheck.resume.model import Outcome
from reprocheck.resume.report import rows
from reprocheck.resume.report.rows import Pair

if TYPE_CHECKING:
    import numpy as np

LOSS_TITLE = "Loss of the continued and of the resumed run over the iterations of the continued run"
DIFFERENCE_TITLE = "Difference of the resumed run from the continued run, on a logarithmic scale"
NAMES = {"run 1": "continued run", "run 2": "resumed run"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """The charts of one place as SVG elements; `difference` and `preview` may be ""."""

    loss: str
    difference: str
    preview: str


def drawing(outcome: Outcome) -> Drawing | None:
    """Return the charts of a place; None where no loss can be drawn."""
    pairs = [*rows.before(outcome), *rows.pairs(outcome)]
    if not pairs or outcome.offset is None:
        return None
    curves = _curves(pairs)
    checkpoint = outcome.offset.k
    loss = _with_checkpoint(page_charts.loss_plot(curves), checkpoint)
    difference = ""
    if curves.differences:
        plot = _with_checkpoint(page_charts.difference_plot(curves), checkpoint)
        difference = page_charts.chart(plot, DIFFERENCE_TITLE)
    return Drawing(
        loss=page_charts.chart(loss, LOSS_TITLE),
        difference=difference,
        preview=page_charts.preview(loss, LOSS_TITLE),
    )


def _with_checkpoint(plot: Plot, k: int) -> Plot:
    """Add the line behind the checkpoint, and name axis and curves as a resume has them."""
    lines = (replace(line, label=NAMES.get(line.label, line.label)) for line in plot.lines)
    return replace(plot, border=k + 0.5, axis="iteration of the continued run", lines=tuple(lines))


def _curves(pairs: list[Pair]) -> Curves:
    """Return both losses, and their difference where both runs have one."""
    import numpy as np

    def column(values: list[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    iterations = np.array([pair.offset.continued(pair.iteration) for pair in pairs])
    continued = column([pair.continued for pair in pairs])
    resumed = column([pair.resumed for pair in pairs])
    with np.errstate(all="ignore"):
        difference = np.abs(resumed - continued)
    curves = Curves(
        iterations=iterations,
        total=int(iterations.max()),
        losses=(
            Curve(run=1, rank=0, values=continued),
            Curve(run=2, rank=0, values=resumed),
        ),
        bands=(),
        differences=(),
        allowed=(),
        not_finite=(),
        first_divergence=None,
        ranks=(0,),
        ranks_total=1,
    )
    if not np.isfinite(difference).any():
        return curves
    return replace(curves, differences=(Curve(run=2, rank=0, values=difference),))
