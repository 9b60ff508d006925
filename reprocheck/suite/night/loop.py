"""The checks of a night, with their retries: each is in the history before the next one begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

from reprocheck.suite.execution import Executor, Job, Performed, read
from reprocheck.suite.history import History
from reprocheck.suite.model import Night, TargetCheck

TICK = 0.2
"""Seconds after which it is asked again whether a job can begin."""
MOST_LOSSES = 3
"""A check that is lost so often (with its node, for instance) is not started again."""


class Observer(Protocol):
    """Receive the events of a night as they happen."""

    def begun(self, night: Night, to_do: int, checked: int) -> None:
        """Tell that a night begins, or goes on: `to_do` targets are still to be checked, `checked`
        checks are in the history.
        """

    def started(self, job: Job) -> None:
        """Tell that a check, or a deeper recording, begins."""

    def ended(self, check: TargetCheck, *, again: bool) -> None:
        """Tell that a check is in the history; `again`: the target is checked once more."""

    def recording(self, number: int) -> None:
        """Tell that all checks have ended, and `number` deeper recordings follow."""

    def recorded(self, performed: Performed, why_not: str) -> None:
        """Tell that a deeper recording has ended.

        `why_not`: why no recording was made, "" if one was made.
        """

    def lost(self, job: Job, why: str) -> None:
        """Tell that a check was cut short through no fault of its target.

        The check is started anew.
        """

    def waiting(self, job: Job, what_for: str) -> None:
        """Tell that nothing is under way, and a job has to wait for `what_for`."""

    def tick(self) -> None:
        """Refresh a display; called several times a second as long as there is work."""


def check_all(
    jobs: Iterable[Job],
    executor: Executor,
    history: History,
    observer: Observer,
    retry: Callable[[TargetCheck], Job | None],
) -> None:
    """Make all checks. `retry` returns the next attempt after a check that ended, or None if there
    is none.
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
    observer: Observer,
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


def _started(waiting: list[Job], executor: Executor, observer: Observer) -> list[Job]:
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
