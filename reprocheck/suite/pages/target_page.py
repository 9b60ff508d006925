"""targets/TARGET.html: the curves of a target over its nights, its history and its baselines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from reprocheck.report.text import line
from reprocheck.suite.model import Baseline, Night, TargetCheck, TargetReport, TargetState
from reprocheck.suite.pages import chart, links, rows, timeline, words
from reprocheck.suite.pages.rows import Past

if TYPE_CHECKING:
    from jinja2 import Environment

ROOT = "../"


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """Hold the content of a target's page: the newest night that has the target, and those before.

    checks     the checks with their curves, oldest first
    baselines  the baselines, the one accepted last first
    issue      the text that the page copies for an issue
    """

    night: Night
    report: TargetReport
    checks: Sequence[TargetCheck]
    states: Sequence[TargetState]
    baselines: Sequence[Baseline]
    issue: bytes = b""


def render(environment: Environment, known: Told, past: Past) -> bytes:
    """Render the page of a target."""
    one = known.report
    changes = timeline.changes(known.checks)
    drawn = chart.charts(known.checks, *_accepted(known))
    report = ""
    if one.decisive is not None:
        report = links.report(one.decisive.folder, ROOT)
    # JSON that cannot end the script element that it stands in
    data = json.dumps(
        [chart.data(found) for found in drawn], separators=(",", ":"), allow_nan=False
    )
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    facts: dict[str, str] = {}
    for check in known.checks[-1:]:
        facts = {**check.key.facts, **check.beside}
    text = environment.get_template("target.html").render(
        root=ROOT,
        title=line(one.name),
        one=one,
        of_resume=one.target is not None and one.target.resumes,
        told=known,
        words=words,
        tone=rows.tone(one),
        report=report,
        comparison=links.comparison(one, ROOT),
        night_link=links.to(links.night_file(known.night.id), ROOT),
        charts=[(found, Markup(chart.svg(found))) for found in drawn],
        data=Markup(data),
        changes=changes,
        timeline=Markup(timeline.svg(past.nights, past.of(one.name), changes)),
        checks=rows.of_checks(past, known.checks, known.states, changes, ROOT),
        environment=facts,
        issue=known.issue.decode("utf-8", "replace"),
    )
    return text.encode("utf-8", "replace")


def _accepted(known: Told) -> tuple[bytes, str]:
    """Return the accepted curves that are drawn beside those of the nights, and their label."""
    if known.report.baseline is not None:
        return known.report.baseline.curves, "baseline"
    if known.baselines:
        return known.baselines[0].curves, "baseline of another environment"
    return b"", ""
