"""The runs of a plan, one after the other or side by side, each kept as soon as it has ended."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import Any, cast

from reprocheck import interrupts
from reprocheck.launch.observer import Observer
from reprocheck.launch.run.plan import Plan
from reprocheck.launch.run.run import Attend, run
from reprocheck.launch.workdir import cleanup
from reprocheck.launch.workdir.changed_files import note_files
from reprocheck.launch.workdir.interrupted_checks import restored
from reprocheck.launch.workdir.operation import operation
from reprocheck.launch.workdir.workdir import Workdir
from reprocheck.model import RunRecord

Keep = Callable[[tuple[RunRecord, ...]], None]
"""Takes the records of all runs so far: before the first one, and after each."""
Enough = Callable[[], bool]
"""Asked after each run: whether those that are left would say nothing more."""


def record_runs(plan: Plan, keep: Keep, enough: Enough | None = None) -> tuple[RunRecord, ...]:
    """Make the runs.

    Afterwards no started process is alive and the user's files are as they were, whatever happens.

    If the runs follow each other, `enough` ends them early.

    KeyboardInterrupt (also for SIGTERM and SIGHUP) is raised again after the restoration.
    """
    try:
        keep(())
        with interrupts.interrupting():
            return tuple(
                _in_turn(plan, keep, enough) if plan.jobs == 1 else _side_by_side(plan, keep)
            )
    finally:
        with interrupts.waiting():
            shutil.rmtree(plan.scratch, ignore_errors=True)


def _in_turn(plan: Plan, keep: Keep, enough: Enough | None) -> list[RunRecord]:
    """Make the runs one after the other, in the working directory or in a copy.

    The copy is always at the same path.
    """
    runs: list[RunRecord] = []
    for sentence in restored(plan.folder.parent, plan.cwd) if plan.created is None else ():
        plan.observer.message(sentence)
    workdir: Workdir | None = None
    moved: Workdir | None = None
    try:
        with operation("keeping a copy of the working directory"):
            workdir = plan.copy(plan.varied_place(1)) if plan.moved(1) else plan.workdir()
        for number in range(1, plan.runs + 1):
            if plan.moved(number) and number > 1:
                if moved is not None:
                    moved.close()
                moved = plan.copy(plan.varied_place(number), begin=number)
            one_run(plan, moved or workdir, number, runs, keep)
            if number < plan.runs and enough is not None and enough():
                break
    finally:
        with interrupts.waiting():
            if moved is not None:
                moved.close()
            note_files(
                plan.folder,
                workdir.close(undo=stumbled(runs)) if workdir else cleanup.clean_up(plan.folder),
            )
    return runs


def stumbled(runs: Sequence[RunRecord]) -> bool:
    """Return whether a later run failed but run 1 did not.

    Files that run 1 left may be the reason, and would disturb every further run.
    """
    return (
        len(runs) > 1
        and runs[0].ended != "failed"
        and any(run.ended == "failed" for run in runs[1:])
    )


def _side_by_side(plan: Plan, keep: Keep) -> list[RunRecord]:
    """Make the runs in parallel threads, each in a copy of its own."""
    runs: list[RunRecord] = []
    halt = threading.Event()

    def one(number: int) -> None:
        if halt.is_set():
            return
        slot = f"-{number}"
        workdir = plan.copy(slot)
        try:
            one_run(plan, workdir, number, runs, keep, slot=slot, halt=halt)
        finally:
            workdir.close()

    with ThreadPoolExecutor(plan.jobs) as pool:
        try:
            for each in [
                pool.submit(copy_context().run, one, number) for number in range(1, plan.runs + 1)
            ]:
                each.result()
        except BaseException:
            halt.set()
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
    """Make one run and keep it with its files, next to those in `runs`.

    Raises KeyboardInterrupt if it was interrupted. `attend`: see `Job`.
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
    """An observer that is called by one thread at a time."""

    def __init__(self, observer: Observer, lock: Any) -> None:
        self._observer, self._lock = observer, lock

    def __getattr__(self, name: str) -> Callable[..., None]:
        method = getattr(self._observer, name)

        def call(*arguments: object) -> None:
            with self._lock:
                method(*arguments)

        return call
