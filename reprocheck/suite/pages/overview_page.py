"""index.html: all targets of the newest night, with their last nights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprocheck.suite.model import NightReport
from reprocheck.suite.pages import rows, words
from reprocheck.suite.pages.rows import Past

if TYPE_CHECKING:
    from jinja2 import Environment


def render(environment: Environment, report: NightReport, past: Past) -> bytes:
    """Render the overview page. `report`: the newest night."""
    text = environment.get_template("index.html").render(
        root="",
        title="reprocheck suite",
        report=report,
        past=past,
        words=words,
        targets=rows.of_targets(report, "", past),
        nights=rows.of_nights(past, ""),
        tags=sorted({tag for target in report.targets for tag in target.tags}),
    )
    return text.encode("utf-8", "replace")
