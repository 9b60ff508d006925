"""From the report folder of a job, a check or a check of a resume, to a row of the history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from reprocheck.errors import message
from reprocheck.model import EXIT_CODE
from reprocheck.redaction import Redaction, identity, redacted
from reprocheck.suite import check_report, curves, keys
from reprocheck.suite.check_report import CheckReport, Line, ResumeReport
from reprocheck.suite.execution.job import Performed, command_words
from reprocheck.suite.execution.perform import tail
from reprocheck.suite.measures import measures
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.surface import recorded
from reprocheck.suite.target import Target


def first_line(lines: Iterable[Line | None], target: Target) -> str:
    """Return the first of these lines whose file lies in the folder of the target.

    It is given as `file:line`; "" if there is none.
    """
    for line in lines:
        if line is not None and (target.workdir / line.file).is_file():
            return f"{line.file}:{line.line or 0}"
    return ""


def to_paste(reason: str) -> str:
    """Return a reason that quotes no log, with the names of this machine redacted."""
    return Redaction("paste", identity=identity()).sentence(reason)


CONTINUED = 1
"""The number of the run that wrote the checkpoint and went on."""


def with_resume(row: TargetCheck, folder: Path, target: Target) -> TargetCheck:
    """Return the row with what the report says of the place that stands for all.

    Raises ReportError.
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


REPORTED = frozenset(EXIT_CODE.values())
"""Exit codes with which `reprocheck run` and `resume` end where they have come to a verdict."""


def read(performed: Performed) -> TargetCheck:
    """Return a check's row of the history, read from its report folder.

    If no report could be made, the verdict is `error`, with the reason and the last output of
    `reprocheck run`.
    """
    job = performed.job
    row = TargetCheck(
        night=job.night,
        target=job.target.name,
        attempt=job.attempt,
        started=performed.started,
        seconds=performed.seconds,
        commit=performed.commit,
        files=performed.files,
        folder=job.place,
    )
    reason = _no_report(performed)
    if reason:
        said, _, _ = reason.partition("\n")
        return redacted(replace(row, reason=reason, reason_to_paste=said), job.redaction)
    try:
        if job.target.resume is not None:
            row = with_resume(row, job.folder, job.target)
        else:
            row = _with_check(row, job.folder, job.target)
    except Exception as error:  # one report that cannot be read must not end the night
        row = replace(row, reason=message(error))
    return redacted(row, job.redaction)


def is_good(target: Target, verdict: str, exit_code: int) -> bool:
    """Return whether a verdict is the one the target expects.

    For `reproducible`, the exit code has to allow it, too.
    """
    if target.expect == "reproducible":
        return exit_code == 0
    return verdict == target.expect


def _no_report(performed: Performed) -> str:
    """Return why there is no report to be read; "" if there may be one."""
    if performed.error or performed.lost:
        return performed.error or performed.lost
    status = performed.exit_status
    if status in REPORTED:
        return ""
    command = f"reprocheck {command_words(performed.job, performed.job.folder)[0]}"
    ending = f"{command} ended with exit status {status}."
    if status is not None and status < 0:
        ending = f"{command} was killed by signal {-status}."
    return f"{ending}\n{tail(performed.job.folder)}".strip()


def _with_check(row: TargetCheck, folder: Path, target: Target) -> TargetCheck:
    """Return the row with what the report says. Raises ReportError."""
    report = check_report.read(folder, CheckReport)
    cause = report.causes[0].source if report.causes else None
    row = replace(
        row,
        verdict=report.verdict,
        failed_check=report.failed_check or "",
        exit_code=report.exit_code,
        reason=report.reason,
        reason_to_paste=to_paste(report.reason_to_paste),
        good=is_good(target, report.verdict, report.exit_code),
        bitwise=report.bitwise.equal,
        first_bitwise=report.bitwise.first_iteration,
        first_divergence=report.first_divergence,
        causes=tuple(cause.code for cause in report.causes),
        source=first_line((cause, report.failed_at), target),
        rtol=report.tolerance.rtol,
        atol=report.tolerance.atol,
    )
    if report.lead is not None and report.lead.rung is not None:
        row = replace(row, rung=report.lead.rung, place=report.lead.place or "")
    facts = report.facts
    if not facts:
        return row  # it ended before anything was recorded
    run = recorded(folder)
    return replace(
        row,
        key=keys.key_of(facts, report.runs[0].world, report.values, target),
        beside=keys.beside(facts),
        curves=curves.pack(curves.of_check(run.series, report)),
        measures=measures(run),
    )
