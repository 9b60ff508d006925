"""Plan a night: which targets, in what order, and what is left of one.

A night that was interrupted goes on with what is left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import PurePosixPath

from reprocheck.errors import UsageError
from reprocheck.suite.execution import Job, left_by, read
from reprocheck.suite.history import History
from reprocheck.suite.history.shards import first_of
from reprocheck.suite.model import Night, State, TargetCheck
from reprocheck.suite.night.folder import NIGHTS
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite, folder_name
from reprocheck.suite.targets.shares import Share, expected, share

FAILS_AGAIN: tuple[State, ...] = ("new failure", "still failing", "known issue")
"""States of targets whose next failure is no news."""
NIGHTS_LOOKED_AT = 3
"""Nights of a target before this one that say how long it takes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Hold the options of `reprocheck suite run`.

    names, tags         which targets, as `Suite.select` takes them
    shard               which share of these, `2/8`
    only_failed         those alone that failed when they were last checked
    retries             how often a check that is not good is made again
    resume              the night that goes on; `last` for the last one; "" for a new one
    record              whether deeper recordings are made, of what is good and of what failed
    twice               also where a night under way checks the same
    """

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    shard: str = ""
    only_failed: bool = False
    retries: int = 0
    resume: str = ""
    record: bool = True
    twice: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Hold what is to be done in a night.

    jobs     the next attempt at each target, in the order in which the jobs are to begin
    checked  attempts that are in the history already
    not_run  target name -> why the target cannot be checked
    """

    night: Night
    jobs: tuple[Job, ...]
    checked: tuple[TargetCheck, ...] = ()
    not_run: Mapping[str, str]


def share_of_night(targets: Sequence[Target], night: Night, history: History | None) -> Share:
    """Return the share of the targets that `night.shard` names.

    history  what every shard sees, so that all shards agree; None: nothing is known. Of it only
             what had ended before the first shard began counts. Raises UsageError.
    """
    if history is None:
        return share(targets, night.shard, {})
    first = first_of(history, night)
    names = [target.name for target in targets]
    return share(targets, night.shard, history.seconds(names, NIGHTS_LOOKED_AT, before=first))


def retries_of(history: History, night: Night, retries: int) -> Callable[[str], int]:
    """Return a function that says how often a target is checked again in a night.

    Never if it failed the time before, because that is known.
    """
    last = history.last_states(before=night.id) if retries else {}
    known = {name for name, state in last.items() if state.state in FAILS_AGAIN}
    return lambda target: 0 if target in known else retries


def to_resume(history: History, name: str) -> Night:
    """Return the interrupted night to go on with.

    Raises UsageError if there is no such night, or the night has ended.
    """
    begin = "`reprocheck suite run` begins a new one."
    if name == "last":
        interrupted = [night for night in history.nights(last=20) if night.ended is None]
        if not interrupted:
            raise UsageError("No night was interrupted.", begin)
        return interrupted[-1]
    night = history.night(name)
    if night.ended is not None:
        raise UsageError(f"The night {night.id} came to its end.", begin)
    return night


def job_of(target: Target, night: str, suite: Suite, attempt: int) -> Job:
    """Return an attempt at a target; its report is `nights/NIGHT/TARGET/attempt-N`."""
    place = PurePosixPath(NIGHTS, night, folder_name(target.name), f"attempt-{attempt}")
    return Job(target=target, night=night, root=suite.folder, place=str(place), attempt=attempt)


def longest_first(jobs: Sequence[Job], history: History, night: Night) -> tuple[Job, ...]:
    """Return the jobs sorted by the time that they took before, longest first.

    Those of unknown duration come before them, so that no long check runs alone at the end.
    """
    targets = [job.target for job in jobs]
    names = [target.name for target in targets]
    took = expected(targets, history.seconds(names, NIGHTS_LOOKED_AT, before=night))
    return tuple(sorted(jobs, key=lambda job: -took.get(job.target.name, inf)))


def jobs_left(
    night: Night, suite: Suite, history: History, retries: Callable[[str], int]
) -> tuple[tuple[Job, ...], tuple[TargetCheck, ...]]:
    """Return what is left to do in a night, and what it has checked.

    A check whose report stands at its place but is not in the history was finished: it is read and
    recorded now.
    """
    checked = list(history.checks(night=night.id))
    jobs = []
    by_name = {target.name: target for target in suite.targets}
    for target in (by_name[name] for name in night.selected if name in by_name):
        attempts = [check for check in checked if check.target == target.name]
        job = job_of(target, night.id, suite, len(attempts) + 1)
        most = retries(target.name)
        while not _is_done(attempts, most) and (performed := left_by(job)) is not None:
            check = read(performed)
            history.add(check)
            attempts.append(check)
            checked.append(check)
            job = job_of(target, night.id, suite, len(attempts) + 1)
        if not _is_done(attempts, most):
            jobs.append(job)
    return tuple(jobs), tuple(checked)


def _is_done(attempts: Sequence[TargetCheck], retries: int) -> bool:
    return bool(attempts) and (attempts[-1].good or len(attempts) > retries)
