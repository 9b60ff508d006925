"""nights/NIGHT.html: what one night says of each target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.report.text import line
from reprocheck.suite.model import Night, NightReport
from reprocheck.suite.pages import links, rows, words
from reprocheck.suite.pages.rows import Past

if TYPE_CHECKING:
    from jinja2 import Environment

ROOT = "../"
MOST_DETAILS = 100
"""Targets that fail with all that is known of them; the others have it on their own page."""


def render(environment: Environment, report: NightReport, past: Past) -> bytes:
    """Render the page of a night."""
    before, after = past.beside(report.night)
    text = environment.get_template("night.html").render(
        root=ROOT,
        title=f"Night {line(report.night.id)}",
        report=report,
        words=words,
        targets=rows.of_targets(report, ROOT),
        failed=report.failed[:MOST_DETAILS],
        left_out=len(report.failed) - MOST_DETAILS,
        before=_link(before),
        after=_link(after),
        tags=sorted({tag for target in report.targets for tag in target.tags}),
        comparison=lambda target: links.comparison(target, ROOT),
        target_link=lambda name: links.to(links.target_file(name), ROOT),
    )
    return text.encode("utf-8", "replace")


def _link(night: Night | None) -> str:
    if night is None:
        return ""
    return links.to(links.night_file(night.id), ROOT)
