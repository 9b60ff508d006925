"""A whole night, from the targets to what changed, with the retries of its checks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from reprocheck._version import __version__
from reprocheck.errors import UsageError
from reprocheck.suite.baselines.accept import reset_command
from reprocheck.suite.changes import states_of_night
from reprocheck.suite.execution import Executor, Job, Performed, read
from reprocheck.suite.execution.perform import commit_of
from reprocheck.suite.history import History
from reprocheck.suite.history.shards import shared_history, take_baselines
from reprocheck.suite.model import Night, TargetCheck, TargetState
from reprocheck.suite.night import deeper
from reprocheck.suite.night.folder import claimed_for_this_process, new_id, prepare
from reprocheck.suite.night.plan import (
    Options,
    Plan,
    job_of,
    jobs_left,
    longest_first,
    retries_of,
    share_of_night,
    to_resume,
)
from reprocheck.suite.night.prune import remove_old
from reprocheck.suite.targets import Suite, missing

TICK = 0.2
"""Seconds after which it is asked again whether a job can begin."""
MOST_LOSSES = 3
"""A check that is lost so often (with its node, for instance) is not started again."""


class JobObserver(Protocol):
    """Receive the events of jobs as they happen."""

    def started(self, job: Job) -> None:
        """Tell that a check, or a deeper recording, begins."""

    def lost(self, job: Job, why: str) -> None:
        """Tell that a check was cut short through no fault of its target.

        The check is started anew.
        """

    def waiting(self, job: Job, what_for: str) -> None:
        """Tell that nothing is under way, and a job has to wait for `what_for`."""

    def tick(self) -> None:
        """Refresh a display; called several times a second as long as there is work."""

    def recording(self, number: int) -> None:
        """Tell that `number` deeper recordings follow."""

    def recorded(self, performed: Performed, why_not: str) -> None:
        """Tell that a deeper recording has ended.

        `why_not`: why no recording was made, "" if one was made.
        """


class Observer(JobObserver, Protocol):
    """Receive the events of a night as they happen."""

    def begun(self, night: Night, to_do: int, checked: int) -> None:
        """Tell that a night begins, or goes on.

        `to_do` targets are still to be checked, `checked` checks are in the history.
        """

    def ended(self, check: TargetCheck, *, again: bool) -> None:
        """Tell that a check is in the history; `again`: the target is checked once more."""


def check_all(
    jobs: Iterable[Job],
    executor: Executor,
    history: History,
    observer: Observer,
    retry: Callable[[TargetCheck], Job | None],
) -> None:
    """Make all checks.

    `retry` returns the next attempt after a check that ended, or None if there is none.
    """

    def record(performed: Performed) -> Job | None:
        check = read(performed)
        history.add(check)
        next_job = retry(check)
        observer.ended(check, again=next_job is not None)
        return next_job

    perform_all(jobs, executor, observer, record)


def perform_all(
    jobs: Iterable[Job],
    executor: Executor,
    observer: JobObserver,
    done: Callable[[Performed], Job | None],
) -> None:
    """Perform all jobs of a night.

    `done` is called with each job that has ended, and returns a follow-up job or None.
    """
    waiting = list(jobs)
    losses: Counter[str] = Counter()
    while waiting or executor.busy:
        waiting = _started(waiting, executor, observer)
        observer.tick()
        for performed in executor.wait(TICK):
            job = performed.job
            losses[job.place] += bool(performed.lost)
            if performed.lost and losses[job.place] < MOST_LOSSES:
                observer.lost(job, performed.lost)
                waiting.append(job)
            elif (next_job := done(performed)) is not None:
                waiting.append(next_job)


def _started(waiting: list[Job], executor: Executor, observer: JobObserver) -> list[Job]:
    """Start the jobs that can begin now; return the jobs that have to wait."""
    left = []
    what_for = ""
    for job in waiting:
        what_for = executor.start(job)
        if what_for:
            left.append(job)
        else:
            observer.started(job)
    if left and not executor.busy:
        observer.waiting(left[-1], what_for)
    return left


GONE = "It is in the suite no longer."
"""Why a target of an interrupted night is not run."""
WITHOUT_VERDICT = ("inconclusive", "error")
ALL_GOOD, FAILED, UNDECIDED = 0, 1, 3
"""Exit codes of a night."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Hold the result of a night.

    checks  the last attempt at each target
    states  the state of each target: what changed, or why the target was not run
    """

    night: Night
    checks: tuple[TargetCheck, ...] = ()
    states: tuple[TargetState, ...] = ()

    @property
    def failed(self) -> tuple[TargetState, ...]:
        """Return the states that fail the night."""
        return tuple(state for state in self.states if state.failed)

    @property
    def exit_code(self) -> int:
        """Return the exit code of the night.

        It is 1 if a target failed the night; 3 if none failed but a target was not run or its check
        has no verdict; else 0.
        """
        if not self.failed:
            return ALL_GOOD
        undecided = {check.target for check in self.checks if check.verdict in WITHOUT_VERDICT}
        if all(state.state == "not run" or state.target in undecided for state in self.failed):
            return UNDECIDED
        return FAILED


def run(
    suite: Suite, history: History, executor: Executor, options: Options, observer: Observer
) -> Outcome:
    """Check the targets of a new night, or what is left of one that was interrupted.

    Each check is in the history as soon as it has ended. Raises UsageError if there is nothing
    to run or to resume, or another process makes this night or one like it, ReportError if the
    folder of the suite cannot be written, HistoryError.
    """
    prepare(suite.folder)
    refuse_unknown(suite, history)
    with shared_history(suite.home_history, history) as shared:
        if shared is not None and shared is not history:
            take_baselines(history, shared)
        if options.resume:
            night = to_resume(history, options.resume)
        else:
            night = _new_night(suite, history, executor, options, shared)
    with claimed_for_this_process(suite, night, twice=options.twice):
        history.begin_night(night)
        retries = retries_of(history, night, options.retries)
        plan = _plan(night, suite, history, executor, retries)
        observer.begun(night, len(plan.jobs), len(plan.checked))
        retry = _next_attempt(suite, night, retries)
        check_all(plan.jobs, executor, history, observer, retry)
        found = []
        for state in states_of_night(history, night, suite.targets):
            why = plan.not_run.get(state.target)
            if why:
                state = replace(state, sentence=why, sentence_to_paste=why)
            found.append(state)
        states = tuple(found)
        history.put_states(states)
        if options.record:
            states = _deeper(suite, history, night, states, executor, observer)
            history.put_states(states)
        night = replace(night, ended=time.time())
        history.end_night(night.id, night.ended or 0.0)
        remove_old(suite, history, night)
    return Outcome(night=night, checks=history.final(night.id), states=states)


def refuse_unknown(suite: Suite, history: History) -> None:
    """Raise UsageError if the file of baselines names a target that the suite does not have."""
    if history.file is None:
        return
    known = {target.name for target in suite.targets}
    unknown = sorted({one.target for one in history.baselines()} - known)
    if unknown:
        raise UsageError(
            f"{history.file.path} has a baseline of target {unknown[0]!r}, which the suite does"
            " not have.",
            f"Correct its field target, or remove it: {reset_command(unknown[0])}",
        )


def _deeper(
    suite: Suite,
    history: History,
    night: Night,
    states: tuple[TargetState, ...],
    executor: Executor,
    observer: Observer,
) -> tuple[TargetState, ...]:
    """Make the deeper recordings that are wanted, and return the states.

    The states of failing targets have the first operation that differs from the kept recording.
    """
    by_target = {state.target: state for state in states}
    recordings = deeper.wanted(suite, history, night, history.final(night.id), by_target)
    by_place = {recording.job.place: recording for recording in recordings}
    found: dict[str, deeper.Found] = {}

    def done(performed: Performed) -> None:
        one = by_place[performed.job.place]
        why_not = performed.no_recording
        deeper.keep(one, performed)
        if said := deeper.compared(one, performed):
            found[performed.job.target.name] = said
        observer.recorded(performed, why_not)

    if recordings:
        observer.recording(len(recordings))
    perform_all([recording.job for recording in recordings], executor, observer, done)
    with_operations = [deeper.with_operation(state, found) for state in states]
    return deeper.with_commits(suite, history, night, with_operations)


def _new_night(
    suite: Suite,
    history: History,
    executor: Executor,
    options: Options,
    shared: History | None,
) -> Night:
    """Return a new night. Raises UsageError if there is nothing to run.

    shared  the history that every shard of the night sees
    """
    targets = suite.select(options.names, options.tags)
    night = draft(suite, history, options.shard, executor.name)
    if options.shard:
        mine = share_of_night(targets, night, shared)
        targets, night = mine.targets, replace(night, shard=mine.name)
    if options.only_failed:
        last = history.last_states()
        targets = tuple(one for one in targets if one.name in last and last[one.name].failed)
        if not targets:
            raise UsageError(
                "No target failed when it was last checked.",
                "`reprocheck suite run` checks all targets.",
            )
    return replace(night, selected=tuple(target.name for target in targets))


def draft(suite: Suite, history: History, shard: str, executor: str) -> Night:
    """Return a night that begins now, without the targets that it selects."""
    now = time.time()
    newest = max((night.id for night in history.nights(last=1)), default="")
    return Night(
        id=new_id(now, newest),
        started=now,
        targets=tuple(target.name for target in suite.targets),
        selected=(),
        shard=shard,
        commit=commit_of(suite.file.parent),
        executor=executor,
        reprocheck_version=__version__,
    )


def _plan(
    night: Night,
    suite: Suite,
    history: History,
    executor: Executor,
    retries: Callable[[str], int],
) -> Plan:
    known = {target.name for target in suite.targets}
    not_run = {name: GONE for name in night.selected if name not in known}
    jobs, checked = jobs_left(night, suite, history, retries)
    for job in jobs:
        lacking = missing(job.target)
        why = lacking.message if lacking else executor.impossible(job.target.needs)
        if why:
            not_run[job.target.name] = why
    can_run = [job for job in jobs if job.target.name not in not_run]
    return Plan(
        night=night, jobs=longest_first(can_run, history, night), checked=checked, not_run=not_run
    )


def _next_attempt(
    suite: Suite, night: Night, retries: Callable[[str], int]
) -> Callable[[TargetCheck], Job | None]:
    """Return the retry that follows a check; None if the check is good, or was the last retry."""
    by_name = {target.name: target for target in suite.targets}

    def next_attempt(check: TargetCheck) -> Job | None:
        if check.good or check.attempt > retries(check.target):
            return None
        return job_of(by_name[check.target], night.id, suite, check.attempt + 1)

    return next_attempt
