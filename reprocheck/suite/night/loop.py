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
    """What is told of a night on the way."""

    def begun(self, night: Night, to_do: int, checked: int) -> None:
        """Tell that a night begins, or goes on: so many targets are to be checked."""

    def started(self, job: Job) -> None:
        """Tell that a check, or a deeper recording, begins."""

    def ended(self, check: TargetCheck, *, again: bool) -> None:
        """Tell that a check is in the history; `again`: the target is checked once more."""

    def recording(self, number: int) -> None:
        """All checks have ended; so many deeper recordings are to be made."""

    def recorded(self, performed: Performed, why_not: str) -> None:
        """Tell that a deeper recording has ended.

        `why_not`: why none was made, "" where one was.
        """

    def lost(self, job: Job, why: str) -> None:
        """Tell that a check did not come to its end, by no fault of the target.

        It is started anew.
        """

    def waiting(self, job: Job, what_for: str) -> None:
        """Nothing is under way, and a job has to wait for something."""

    def tick(self) -> None:
        """Look around; called several times a second as long as anything is to be done."""


def check_all(
    jobs: Iterable[Job],
    executor: Executor,
    history: History,
    observer: Observer,
    retry: Callable[[TargetCheck], Job | None],
) -> None:
    """Make all checks. `retry`: the next attempt after one that ended, None where that was all."""

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

    `done` is given each that has ended, and returns one that follows it.
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
    """Start what can begin now; return the others."""
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
