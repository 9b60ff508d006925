"""Two revisions compared: what each target computes at both, and the first operation that differs.

The curves decide, value by value, as a night holds a check against its baseline. Where they differ
both recordings are compared as `reprocheck compare` does. Where these do not reach the difference,
or can name the operator inside a module, both sides are recorded once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.errors import ReprocheckError, UsageError
from reprocheck.suite import check_report, curves
from reprocheck.suite.baselines.compare import Allowed, compare as compare_curves
from reprocheck.suite.baselines.operation import Operation, between
from reprocheck.suite.bisect.checkout import alone
from reprocheck.suite.bisect.commits import of_revision, root_of
from reprocheck.suite.bisect.environments import digest_of
from reprocheck.suite.changes.target_facts import meaning
from reprocheck.suite.check_report import CheckReport
from reprocheck.suite.diff.recording import Pair, Recorder, Say, both_worktrees
from reprocheck.suite.diff.result import Compared, Revision, TargetDiff
from reprocheck.suite.execution import Executor, read
from reprocheck.suite.model import Difference, RankSeries, TargetCheck
from reprocheck.suite.night.run import JobObserver
from reprocheck.suite.reports import shown
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite, missing

BY_MODULE = ("--level", "module")
BY_OPERATOR = ("--level", "op")
OF_OPERATORS = ("forward", "loss", "gradient")
"""Rungs on which the operators inside a module can say more than the module."""
WITH_OPERATORS = "torch.version"
"""The fact of trainings whose operators can be recorded."""
MOST_DEEP = 1000
"""Iterations that are recorded deeply, at most."""
FAILED = ("script_failed", "timed_out", "error")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """Say what is compared: two revisions by name, options added on each side, runs a side."""

    revisions: tuple[str, str]
    options: tuple[str, str] = ("", "")
    runs: int = 1


def compare(
    suite: Suite,
    targets: Sequence[Target],
    request: Request,
    executor: Executor,
    observer: JobObserver,
    say: Say,
) -> Compared:
    """Record the targets at both revisions in worktrees, and compare them.

    The working tree and the history stay as they are.

    Raises UsageError if a revision is not there, or a target cannot be compared.
    """
    repository = root_of(suite.file.parent)
    _refuse(targets, repository)
    first, second = (
        Revision(name=name, commit=of_revision(repository, name), options=options)
        for name, options in zip(request.revisions, request.options, strict=True)
    )
    place = f"diff/{digest_of((first.shown, second.shown))}"
    with (
        alone(suite.folder, place, repository) as inside,
        both_worktrees((first, second), repository, suite.folder, say, inside) as worktrees,
    ):
        recorder = Recorder(
            root=suite.folder,
            place=place,
            repository=repository,
            revisions=(first, second),
            worktrees=worktrees,
            runs=request.runs,
            executor=executor,
            observer=observer,
        )
        found = _compared(recorder, targets)
    return Compared(first=first, second=second, targets=found)


def _refuse(targets: Sequence[Target], repository: Path) -> None:
    """Raise UsageError if a target has no curves, or lies in another repository."""
    for target in targets:
        if target.resume is not None:
            raise UsageError(
                f"{target.name} checks a resume, and has no curves.", "Name its training."
            )
        if not target.workdir.resolve().is_relative_to(repository.resolve()):
            raise UsageError(
                f"{target.name} starts in {target.workdir}, outside of {repository}.",
                "Name targets of the repository that holds the settings file.",
            )


def _compared(recorder: Recorder, targets: Sequence[Target]) -> tuple[TargetDiff, ...]:
    wanted = {target.name: BY_MODULE for target in targets}
    found = {
        target.name: _judged(target, pair, recorder)
        for target, pair in zip(targets, recorder.record(wanted, targets), strict=True)
    }
    operations = {name: one for name, (_, one) in found.items() if one is not None}
    further = {name: deeper for name, one in operations.items() if (deeper := _deeper(one))}
    again = [target for target in targets if target.name in further]
    results = {name: result for name, (result, _) in found.items()}
    if again:
        for target, pair in zip(again, recorder.record(further, again), strict=True):
            result, operation = _judged(target, pair, recorder)
            if operation is not None and operation.first is not None:
                results[target.name] = result
    return tuple(results[target.name] for target in targets)


def _judged(target: Target, pair: Pair, recorder: Recorder) -> tuple[TargetDiff, Operation | None]:
    """Return the result of a target, and how its recordings differ; None if its curves do not."""
    about = shown(target)
    result = TargetDiff(
        target=target.name, outcome="equal", script=about.script, folder=about.folder
    )
    rows = [read(performed) for performed in pair]
    for row, performed, revision in zip(rows, pair, recorder.revisions, strict=True):
        if missing(performed.job.target):
            reason = f"It is not there at {revision.shown}"
            return replace(result, outcome="not at both", reason=reason), None
        if row.verdict in FAILED:
            reason = f"At {revision.shown}: {row.reason}"
            return replace(result, outcome="failed", reason=reason), None
        if not row.curves:
            reason = f"At {revision.shown}: {row.reason or 'no loss was recorded'}"
            return replace(result, outcome="inconclusive", reason=reason), None
    drift = _drift(rows, once=recorder.runs == 1)
    result = replace(result, drift=drift)
    if not meaning(drift):
        return result, None
    exceeded = _allowed(target).exceeded(drift)
    result = replace(result, outcome="differs" if exceeded else "within the tolerance")
    first, second = recorder.revisions
    then, now = (performed.job.recording for performed in pair)
    try:
        operation = between(then, now, pair[0].job.folder.parent, names=(first.shown, second.shown))
    except ReprocheckError as error:
        return replace(result, operation=error.message), None
    suspect = operation.suspect(recorder.root)
    return replace(result, operation=operation.sentence, suspect=suspect), operation


def _drift(rows: Sequence[TargetCheck], *, once: bool) -> tuple[Difference, ...]:
    """Return the series in which the second side differs from the first.

    once  whether each side was run once, which shows nothing of how it varies
    """

    def series(row: TargetCheck) -> tuple[RankSeries, ...]:
        found = curves.unpack(row.curves)
        return tuple(replace(one, repeats=True) for one in found) if once else found

    first, second = rows
    return compare_curves(series(second), series(first), second.rtol, second.atol)


def _allowed(target: Target) -> Allowed:
    """Return how far the sides may be from each other: as the target says, else in no bit."""
    by_tolerance = target.allow in ("tolerance", "noise-floor")
    varies = target.allow is None and target.expect == "not_reproducible"
    return Allowed(allow="tolerance" if by_tolerance or varies else "bits", limits=target.limits)


def _deeper(operation: Operation) -> tuple[str, ...]:
    """Return options of a recording that says more; () if this one says all that can be known."""
    report = check_report.read(operation.report, CheckReport)
    iteration = report.bitwise.first_iteration
    deep = () if iteration is None else ("--deep", str(min(iteration, MOST_DEEP)))
    first = operation.first
    if first is None or first.rung == "later":
        return (*BY_MODULE, *deep) if deep else ()
    if first.rung in OF_OPERATORS and WITH_OPERATORS in report.facts:
        return (*BY_OPERATOR, *deep)
    return ()
