"""From the report folder of a check of a resume to a row of the history.

No curves are kept: such a check has one run from the start, so nothing says whether another one
would repeat them. The run that wrote the checkpoint is what the resumed one is held against.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reprocheck.suite import check_report, keys
from reprocheck.suite.check_report import Line, ResumeReport
from reprocheck.suite.execution.lines import first_line, to_paste
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.target import Target

CONTINUED = 1
"""The number of the run that wrote the checkpoint and went on."""


def with_resume(row: TargetCheck, folder: Path, target: Target) -> TargetCheck:
    """Return the row with what the report says of the place that stands for all. Raises
    ReportError.
    """
    report = check_report.read(folder, ResumeReport)
    place = report.decisive
    cause = Line.at(place.causes[0].source) if place.causes else None
    row = replace(
        row,
        verdict=report.verdict,
        exit_code=report.exit_code,
        reason=report.reason,
        reason_to_paste=to_paste(report.reason_to_paste),
        good=report.exit_code == 0,
        causes=tuple(cause.code for cause in place.causes),
        source=first_line((cause, report.failed_at), target),
        rtol=report.tolerance.rtol,
        atol=report.tolerance.atol,
    )
    if place.bitwise is not None:
        first, outside = place.bitwise.first, place.first_divergence
        diverges = outside.iteration if outside else None
        row = replace(
            row,
            bitwise=place.bitwise.equal,
            first_bitwise=first.resumed if first else None,
            first_divergence=diverges.resumed if diverges else None,
        )
    rung = next((rung for rung in place.rungs if rung.status == "differs"), None)
    if rung is not None:
        row = replace(row, rung=rung.name, place=rung.place)
    facts = {name: str(value) for name, value in sorted(report.facts.items())}
    continued = next((run for run in report.runs if run.number == CONTINUED), None)
    if continued is None or not facts:
        return row
    return replace(
        row,
        key=keys.key_of(facts, continued.world, report.values, target),
        beside=keys.beside(facts),
    )
