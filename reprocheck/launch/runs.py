"""The runs of a plan, one after the other or side by side, each kept as soon as it has ended."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any, cast

from reprocheck import interrupts
from reprocheck.launch import cleanup
from reprocheck.launch.files_after import note_files
from reprocheck.launch.left_behind import restored
from reprocheck.launch.observer import Observer
from reprocheck.launch.operation import operation
from reprocheck.launch.plan import Plan
from reprocheck.launch.run import Attend, run
from reprocheck.launch.workdir import Workdir
from reprocheck.model import RunRecord

Keep = Callable[[tuple[RunRecord, ...]], None]
"""Takes the records of all runs so far: before the first one, and after each."""
Enough = Callable[[], bool]
"""Asked after each run: whether those that are left would say nothing more."""


class Rooms:
    """How many runs may be under way at once, of several plans together."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: list[threading.Event] = []
        self._changed = threading.Condition()

    @contextmanager
    def room(self, beside: Beside) -> Iterator[bool]:
        """A room for one run, once there is one; False where the runs are to end."""
        with self._changed:
            self._waiting.append(beside.first)
            self._changed.wait_for(lambda: beside.halt.is_set() or self._has_room(beside))
            self._waiting.remove(beside.first)
            entered = not beside.halt.is_set()
            if entered:
                self._free -= 1
            self._changed.notify_all()
        try:
            yield entered
        finally:
            if entered:
                self._leave()

    def _has_room(self, beside: Beside) -> bool:
        others_first = any(first.is_set() for first in self._waiting)
        return self._free > 0 and (beside.first.is_set() or not others_first)

    def _leave(self) -> None:
        with self._changed:
            self._free += 1
            self._changed.notify_all()

    def look_again(self) -> None:
        """After an event of a `Beside` was set."""
        with self._changed:
            self._changed.notify_all()


@dataclass(frozen=True, kw_only=True, slots=True)
class Beside:
    """How the runs of a plan stand beside those of others.

    halt   set where they are to end
    first  set where somebody waits for them: they go before those of others
    """

    rooms: Rooms
    halt: threading.Event = field(default_factory=threading.Event)
    first: threading.Event = field(default_factory=threading.Event)


def record_runs(
    plan: Plan, keep: Keep, enough: Enough | None = None, beside: Beside | None = None
) -> tuple[RunRecord, ...]:
    """Makes the runs. Afterwards nothing that was started is alive and the user's files are as they
    were, whatever happens.

    Where they come one after the other, `enough` ends them early; where runs of other plans are
    under way as well, `beside` says how they stand beside each other.

    KeyboardInterrupt (also for SIGTERM and SIGHUP) is raised again once that is so.
    """
    try:
        keep(())
        with interrupts.interrupting():
            return tuple(
                _in_turn(plan, keep, enough)
                if plan.settings.jobs == 1
                else _side_by_side(plan, keep, beside or Beside(rooms=Rooms(plan.settings.jobs)))
            )
    finally:
        with interrupts.waiting():
            shutil.rmtree(plan.scratch, ignore_errors=True)


def _in_turn(plan: Plan, keep: Keep, enough: Enough | None) -> list[RunRecord]:
    """The runs one after the other, in the working directory itself or in a copy at the same
    path.
    """
    runs: list[RunRecord] = []
    for sentence in restored(plan.folder.parent, plan.cwd) if plan.created is None else ():
        plan.observer.message(sentence)
    workdir: Workdir | None = None
    try:
        with operation("keeping a copy of the working directory"):
            workdir = plan.workdir()
        for number in range(1, plan.runs + 1):
            one_run(plan, workdir, number, runs, keep)
            if number < plan.runs and enough is not None and enough():
                break
    finally:
        with interrupts.waiting():
            note_files(
                plan.folder,
                workdir.close(undo=stumbled(runs)) if workdir else cleanup.clean_up(plan.folder),
            )
    return runs


def stumbled(runs: Sequence[RunRecord]) -> bool:
    """Whether a later run failed where run 1 did not: what run 1 left may be why, and would be in
    the way of every further run.
    """
    return (
        len(runs) > 1
        and runs[0].ended != "failed"
        and any(run.ended == "failed" for run in runs[1:])
    )


def _side_by_side(plan: Plan, keep: Keep, beside: Beside) -> list[RunRecord]:
    """The runs in threads, each in a copy of its own."""
    runs: list[RunRecord] = []
    arm = plan.arm.partition("-")[0]
    place = f"-{arm}" if arm else ""

    def one(number: int) -> None:
        with beside.rooms.room(beside) as entered:
            if not entered:
                return
            slot = f"{place}-{number}"
            workdir = plan.copy(slot)
            try:
                one_run(plan, workdir, number, runs, keep, slot=slot, halt=beside.halt)
            finally:
                workdir.close()

    with ThreadPoolExecutor(plan.settings.jobs) as pool:
        try:
            for each in [
                pool.submit(copy_context().run, one, number) for number in range(1, plan.runs + 1)
            ]:
                each.result()
        except BaseException:
            beside.halt.set()
            beside.rooms.look_again()
            raise
    return sorted(runs, key=lambda item: item.number)


def one_run(
    plan: Plan,
    workdir: Workdir,
    number: int,
    runs: list[RunRecord],
    keep: Keep,
    *,
    slot: str = "",
    halt: threading.Event | None = None,
    attend: Attend | None = None,
) -> None:
    """One run and its files, kept with those that are in `runs`; KeyboardInterrupt where it was
    broken off. `attend`: see `Job`.
    """
    observer = cast(Observer, _Locked(plan.observer, plan.lock))
    with operation(f"preparing run {number}"):
        workdir.begin()
    observer.run_started(number, plan.runs)
    with operation(f"following run {number}"):
        job = replace(plan.job(number, workdir, slot), attend=attend)
        result, events = run(job, observer, halt or threading.Event())
    with operation(f"looking at the files after run {number}"):
        result = replace(result, files=workdir.end(events))
    with plan.lock, operation(f"keeping the record of run {number}"):
        runs.append(result)
        keep(tuple(sorted(runs, key=lambda item: item.number)))
    observer.run_ended(result)
    if result.ended == "interrupted":
        raise KeyboardInterrupt


class _Locked:
    """An observer that hears one thing at a time."""

    def __init__(self, observer: Observer, lock: Any) -> None:
        self._observer, self._lock = observer, lock

    def __getattr__(self, name: str) -> Callable[..., None]:
        method = getattr(self._observer, name)

        def call(*arguments: object) -> None:
            with self._lock:
                method(*arguments)

        return call
