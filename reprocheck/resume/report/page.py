"""report.html of a check of a resume: one offline file, in the form of every report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.model.verdict import TONES
from reprocheck.report import charts
from reprocheck.report.curves import Curve, Curves
from reprocheck.report.page import SIGNS, environment, policy, source
from reprocheck.resume.model import Outcome, ResumeCheck
from reprocheck.resume.report import rows
from reprocheck.resume.report.rows import Pair, pairs

if TYPE_CHECKING:
    from markupsafe import Markup

_TITLE = "Loss of the continued and of the resumed run over the iterations of the continued run"


def render(check: ResumeCheck, issue: str) -> bytes:
    """Return the page, in UTF-8. `issue`: what its button copies."""
    from markupsafe import Markup

    script = source("templates/copy.js")
    tone = TONES[check.exit_code]
    text = (
        environment()
        .get_template("resume.html")
        .render(
            check=check,
            record=check.record,
            rows=rows,
            tone=tone,
            sign=SIGNS[tone],
            policy=policy([script]),
            script=Markup(script),
            issue=issue,
            style=Markup("".join(map(source, ("templates/report.css", "templates/resume.css")))),
            charts={one.place.name: _chart(one, n) for n, one in enumerate(check.outcomes)},
        )
    )
    return text.encode("utf-8", "replace")


def _chart(outcome: Outcome, number: int) -> Markup | str:
    """Return both losses on the axis of the continued run, with a line behind the checkpoint."""
    from markupsafe import Markup

    compared = [*rows.before(outcome), *pairs(outcome)]
    if not compared or outcome.offset is None:
        return ""
    figure = charts.loss_figure(_curves(compared))
    axes = figure.axes[0]
    axes.axvline(outcome.offset.k + 0.5, color=charts.LIMIT, linewidth=1.2, linestyle="--")
    axes.set_xlabel("iteration of the continued run")
    for legend in filter(None, [axes.get_legend()]):
        for shown, name in zip(legend.get_texts(), ("continued run", "resumed run"), strict=False):
            shown.set_text(name)
    return Markup(charts.inline(charts.svg(figure), f"loss-{number}", _TITLE))


def _curves(compared: list[Pair]) -> Curves:
    import numpy as np

    def column(values: list[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    iterations = np.array([pair.offset.continued(pair.iteration) for pair in compared])
    continued = column([pair.continued for pair in compared])
    resumed = column([pair.resumed for pair in compared])
    return Curves(
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
