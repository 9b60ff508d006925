"""From the report folder of a check of a resume to a row of the history.

No curves are kept: such a check has one run from the start, so nothing says whether another one
would repeat them. The run that wrote the checkpoint is what the resumed one is held against.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from reprocheck.model import Run
from reprocheck.recording import record as check_records
from reprocheck.resume.check import load
from reprocheck.resume.model import CONTINUED, ResumeCheck
from reprocheck.suite import keys
from reprocheck.suite.execution.lines import first_line, without_log
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.target import Target
from reprocheck.trace import read_run
from reprocheck.wording.trace import told_run


def filled(row: TargetCheck, folder: Path, target: Target) -> TargetCheck:
    """Return the row with what the check says at the place that stands for all. Raises
    ReportError.
    """
    check = load(folder)
    runs = [told_run(read_run(folder, run)) for run in check_records.read(folder).runs]
    outcome = check.decisive
    tolerance = check.record.tolerance
    row = replace(
        row,
        verdict=outcome.verdict,
        exit_code=outcome.exit_code,
        reason=outcome.reason,
        reason_to_paste=without_log(outcome.reason, check),
        good=outcome.exit_code == 0,
        causes=tuple(cause.code for cause in outcome.causes),
        source=first_line(outcome.causes, runs, target),
        rtol=tolerance.rtol,
        atol=tolerance.atol,
    )
    if outcome.losses is not None:
        bitwise, outside = outcome.losses.bitwise, outcome.losses.outside
        row = replace(
            row,
            bitwise=bitwise.equal,
            first_bitwise=bitwise.first_iteration,
            first_divergence=outside.iteration if outside else None,
        )
    first = outcome.explained.first
    if first is not None:
        row = replace(row, rung=first.name, place=first.place)
    return _with_environment(row, runs, check, target)


def _with_environment(
    row: TargetCheck, runs: Iterable[Run], check: ResumeCheck, target: Target
) -> TargetCheck:
    """Return the row with what the continued run recorded of its environment."""
    continued = next((run for run in runs if run.number == CONTINUED), None)
    if continued is None or not keys.environment(continued):
        return row
    return replace(
        row,
        key=keys.key_of(continued, check.record.settings, target),
        beside=keys.beside(continued),
    )
