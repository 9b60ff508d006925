"""From the report folder of a job to a row of the history."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.errors import message
from reprocheck.model import EXIT_CODE, Check
from reprocheck.redaction import redacted
from reprocheck.suite import curves, keys
from reprocheck.suite.execution.job import Performed
from reprocheck.suite.execution.lines import first_line, without_log
from reprocheck.suite.execution.perform import tail
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.target import Target

REPORTED = frozenset(EXIT_CODE.values())
"""Exit codes with which `reprocheck run` and `resume` end where they have come to a verdict."""


def read(performed: Performed) -> TargetCheck:
    """Return what the check came to, read from its report folder.

    Its verdict is `error`, with the reason and what `reprocheck run` said last, where no report
    could be made.
    """
    job = performed.job
    row = TargetCheck(
        night=job.night,
        target=job.target.name,
        attempt=job.attempt,
        started=performed.started,
        seconds=performed.seconds,
        commit=performed.commit,
        folder=job.place,
    )
    reason = _no_report(performed)
    if reason:
        said, _, _ = reason.partition("\n")
        return redacted(replace(row, reason=reason, reason_to_paste=said), job.redaction)
    from reprocheck.suite.execution import resume_row
    from reprocheck.workflow import replay

    try:
        if job.target.resume is not None:
            row = resume_row.filled(row, job.folder, job.target)
        else:
            row = _filled(row, replay.load(job.folder), job.target)
    except Exception as error:  # one report that cannot be read must not end the night
        row = replace(row, reason=message(error))
    return redacted(row, job.redaction)


def is_good(target: Target, verdict: str, exit_code: int) -> bool:
    """Return whether a verdict is the one that the target is to have; of `reproducible`, whether
    the exit code allows it, too.
    """
    if target.expect == "reproducible":
        return exit_code == 0
    return verdict == target.expect


def _no_report(performed: Performed) -> str:
    """Return why there is no report to be read; "" where one may be there."""
    if performed.error or performed.lost:
        return performed.error or performed.lost
    status = performed.exit_status
    if status in REPORTED:
        return ""
    command = "reprocheck run" if performed.job.target.resume is None else "reprocheck resume"
    ending = f"{command} ended with exit status {status}."
    if status is not None and status < 0:
        ending = f"{command} was killed by signal {-status}."
    return f"{ending}\n{tail(performed.job.folder)}".strip()


def _filled(row: TargetCheck, check: Check, target: Target) -> TargetCheck:
    verdict, record = check.verdict, check.record
    rung = check.leading
    row = replace(
        row,
        verdict=verdict.verdict,
        failed_check=verdict.failed_check or "",
        exit_code=verdict.exit_code,
        reason=verdict.reason,
        reason_to_paste=without_log(verdict.reason, check),
        good=is_good(target, verdict.verdict, verdict.exit_code),
        bitwise=verdict.bitwise.equal,
        first_bitwise=verdict.bitwise.first_iteration,
        first_divergence=verdict.diverges_from,
        causes=tuple(cause.code for cause in check.causes),
        source=first_line(check.causes, check.runs, target),
        rtol=record.tolerance.rtol,
        atol=record.tolerance.atol,
    )
    if rung is not None:
        row = replace(row, rung=rung.rung, place=rung.place or "")
    if not check.runs or not keys.environment(check.runs[0]):
        return row  # it ended before anything was recorded
    return replace(
        row,
        key=keys.key_of(check.runs[0], record.settings, target),
        beside=keys.beside(check.runs[0]),
        curves=curves.pack(curves.of_check(check)),
    )
