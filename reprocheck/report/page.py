"""report.html: one offline file.

Scripts are inlined and named by their hash in the content security policy; nothing is fetched.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import unescape
from importlib import resources
from typing import TYPE_CHECKING, Any

from reprocheck.language import count, mark, tag, tr
from reprocheck.model import Check, Run, SeriesComparison
from reprocheck.model.verdict import Tone
from reprocheck.report import (
    charts,
    cited_rules,
    compared,
    controls,
    files,
    next_step,
    provenance,
    repair,
    scan_findings,
    series,
    tables,
    why,
    words,
)
from reprocheck.report.curves import Curve, Curves
from reprocheck.report.text import fact, line, moment, tail

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

SIGNS: Mapping[Tone, str] = {"good": "✓", "unsure": "?", "bad": "≠", "failed": "!"}
_LOSS_TITLE = mark("Loss of every run over the iterations, with the tolerance around run 1")
_DIFFERENCE_TITLE = mark(
    "Difference from run 1 over the iterations on a logarithmic scale, with what is allowed"
)
_SERIES_TITLES = {
    "step": mark("{name} of every run over its steps"),
    "iteration": mark("{name} of every run over its iterations"),
}
"""What the horizontal axis counts -> what the chart of a series is called."""


def render(check: Check, curves: Curves, loss_svg: str, difference_svg: str, issue: str) -> bytes:
    """Return the page, in UTF-8. `issue`: what its button copies."""
    from markupsafe import Markup

    scripts = _scripts()
    tone = check.verdict.tone
    reported = list(_reported(check))
    loss_title, difference_title = tr(_LOSS_TITLE), tr(_DIFFERENCE_TITLE)
    most = max(40, 200 // max(1, len(check.runs)))
    # JSON that cannot end the script element that it stands in
    data = json.dumps(chart_data(curves, reported), separators=(",", ":"), allow_nan=False)
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    text = environment().get_template("report.html").render(
        check=check,
        record=check.record,
        verdict=check.verdict,
        curves=curves,
        words=words,
        next_step=next_step,
        why=why,
        series=series,
        controls=controls,
        static=scan_findings,
        compared=compared,
        files=files.sentences(check),
        tables=tables,
        about=provenance,
        repair=repair,
        entries=cited_rules.entries(check),
        cited=cited_rules.codes(check),
        tone=tone,
        sign=SIGNS[tone],
        policy=policy(scripts),
        styles=[
            Markup(source("vendor/uplot/uPlot.min.css")),
            Markup(source("templates/report.css")),
        ],
        scripts=[Markup(script) for script in scripts],
        loss_title=loss_title,
        loss_svg=Markup(charts.inline(loss_svg, "loss", loss_title)),
        difference_title=difference_title,
        difference_svg=Markup(charts.inline(difference_svg, "difference", difference_title)),
        data=Markup(data),
        series_charts=reported,
        logs=[entry for run in check.runs for entry in _logs_of(run, most)],
        issue=issue,
    )  # fmt: skip
    return text.encode("utf-8", "replace")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reported:
    """A series beside the losses that is drawn. `id`: of its chart on the page; `axis`: what its
    horizontal axis counts.
    """

    id: str
    title: str
    row: SeriesComparison
    curves: Curves
    axis: str
    svg: Markup


def _reported(check: Check) -> Iterator[Reported]:
    """Yield each series that is drawn, with its chart."""
    from markupsafe import Markup

    for number, (row, curves, axis) in enumerate(series.drawn(check), start=1):
        name = line(row.name)
        title = tr(_SERIES_TITLES[axis], name=name)
        document = charts.svg(charts.series_figure(curves, name, axis))
        svg = Markup(charts.inline(document, f"series-{number}", title))
        place = f"series-chart-{number}"
        yield Reported(id=place, title=title, row=row, curves=curves, axis=axis, svg=svg)


def _scripts() -> list[str]:
    """Return the scripts of the page, each as it stands in an element of its own."""
    own = source("templates/report.js") + source("templates/copy.js")
    return [source("vendor/uplot/uPlot.iife.min.js"), own]


def own_policy() -> str:
    """Return the content security policy of every page that `render` makes."""
    return policy(_scripts())


def runs_no_other_script(page: bytes) -> bool:
    """Return whether a page begins as those of `render` do, up to the policy that lets it run the
    scripts of this version alone. So does no page of another version.
    """
    found = _BEGINNING.match(page)
    return found is not None and unescape(found[1].decode("ascii", "replace")) == own_policy()


_BEGINNING = re.compile(
    rb'\s*<!doctype html>\s*<html lang="[\w-]{1,20}">\s*<head>\s*<meta charset="utf-8">\s*'
    rb'<meta http-equiv="Content-Security-Policy" content="([^"<>]{1,2000})">'
)
"""What stands before the first element that could run anything."""


def policy(scripts: list[str]) -> str:
    """Return the content security policy that allows these scripts and nothing from outside."""
    hashes = " ".join(
        f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {hashes};"
        " base-uri 'none'; form-action 'none'"
    )


@cache
def environment() -> Environment:
    """Return the template environment: autoescape on, an undefined name is an error."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(lambda name: source(f"templates/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(line=line, prose=_prose, fact=fact, moment=moment)
    made.globals.update(count=count, tag=tag, tr=tr)
    return made


def _prose(text: str) -> Markup:
    """Return a sentence, escaped, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(line(text)))))


@cache
def source(name: str) -> str:
    return resources.files("reprocheck.report").joinpath(name).read_text("utf-8")


def chart_data(curves: Curves, reported: Sequence[Reported] = ()) -> dict[str, Any]:
    """Return what report.js draws: x and series with null for gaps; the series beside the losses
    each with an x of its own.
    """
    import numpy as np

    bottom = charts.floor(curves)
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
            "allowed": [
                _numbers(np.where(curve.values <= 0, bottom, curve.values))
                for curve in curves.allowed
            ],
            "series": [
                _series(curve, curves, np.where(curve.values <= 0, bottom, curve.values))
                for curve in curves.differences
            ],
        },
        "firstDivergence": curves.first_divergence,
        "notFinite": [[iteration, run] for iteration, run, _ in curves.not_finite[:500]],
        "reported": list(map(_reported_data, reported)),
        "words": _chart_words(),
    }


def _chart_words() -> dict[str, str]:
    """Return what report.js writes into the charts; `#` stands for a number."""
    place = tr("iteration {iteration}", iteration="#")
    return {
        "iteration": tr("iteration"),
        "allowed": tr("allowed"),
        "place": place,
        "first": tr("first divergence: {place}", place=place),
    }


def _reported_data(one: Reported) -> dict[str, Any]:
    return {
        "id": one.id,
        "axis": tr(one.axis),
        "x": one.curves.iterations.tolist(),
        "series": [_series(curve, one.curves, curve.values) for curve in one.curves.losses],
    }


def _series(curve: Curve, curves: Curves, values: Any) -> dict[str, Any]:
    return {
        "label": _label(curve, curves),
        "run": curve.run,
        "colour": (curve.run - 1) % len(charts.RUNS) + 1,
        "dash": charts.dash(curve, curves),
        "values": _numbers(values),
    }


def _label(curve: Curve, curves: Curves) -> str:
    if curves.ranks_total > 1:
        return tr("run {number}, rank {rank}", number=curve.run, rank=curve.rank)
    return tr("run {number}", number=curve.run)


def _numbers(values: Any) -> list[float | None]:
    """Return what is drawn of values, in the nine digits that tell any two float32 apart."""
    return [
        float(f"{value:.9g}") if value == value and abs(value) != float("inf") else None
        for value in values.tolist()
    ]


def _logs_of(run: Run, most: int) -> list[dict[str, Any]]:
    named = ((tr("standard error"), run.stderr_tail), (tr("standard output"), run.stdout_tail))
    bad = run.record.ended_badly
    return [
        {
            "title": tr("Run {number}, {name}", number=run.number, name=name),
            "text": tail(text, most, 40_000),
            "open": bad and text is run.stderr_tail,
        }
        for name, text in named
        if text.strip()
    ]
