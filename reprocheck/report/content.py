"""What a check says, as one report of blocks: the page and the Markdown are drawn from it.

To add a section, write the function that makes it, and add a line to a table below.
"""

from __future__ import annotations

from reprocheck.model import Check
from reprocheck.report import (
    causes,
    compared,
    controls,
    environment,
    files,
    ladder,
    limits,
    numbers,
    provenance,
    runs,
    scan_findings,
    seeds,
    series,
    variations,
    words,
)
from reprocheck.report.blocks import Report
from reprocheck.report.curves import Curves
from reprocheck.report.drawings import Drawings
from reprocheck.report.next_step import next_command

ANSWER = (causes.cause_and_fix, runs.how_it_ended)
"""The sections before what to type next, in order: each makes one from a check, or None."""
PROOF = (
    numbers.in_numbers,
    compared.what_was_compared,
    ladder.ladder,
    variations.what_was_varied,
    seeds.another_seed,
    controls.search_over_controls,
    causes.others,
    scan_findings.what_the_source_shows,
)
"""Those behind it, before the curves."""
DETAILS = (
    numbers.the_checks,
    limits.caveats,
    limits.state_left,
    files.changed_files,
    limits.changed_to_observe,
    controls.controls_in_runs,
    runs.the_runs,
    environment.environment,
    limits.coverage,
    causes.rules_of_causes,
    environment.settings,
)
"""Those behind the curves."""


def report(check: Check, drawn: Drawings | None = None, curves: Curves | None = None) -> Report:
    """Return the content of the report of a check.

    drawn   the charts of a page; None where nothing can be drawn
    curves  what a text shows in their place; None for neither
    """
    lead = ladder.lead(check)
    meaning = words.meaning(check) if check.between is not None or not lead else ()
    charts = () if drawn is None else tuple(drawing.chart for drawing in drawn.series)
    sections = (
        *(make(check) for make in PROOF),
        numbers.losses(check, drawn, curves),
        series.reported_series(check, charts),
        *(make(check) for make in DETAILS),
    )
    answer = (make(check) for make in ANSWER)
    return Report(
        title=check.verdict.title,
        tone=check.verdict.tone,
        name=check.record.entry_point.name,
        command=provenance.command(check),
        version=check.record.reprocheck_version,
        lead=lead,
        reasons=tuple(filter(None, (check.verdict.reason, *meaning))),
        about=provenance.rows(check),
        next=next_command(check),
        answer=tuple(section for section in answer if section is not None),
        details=tuple(section for section in sections if section is not None),
        rungs=ladder.rows_of(check),
        preview="" if drawn is None else drawn.preview,
    )
