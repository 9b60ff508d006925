"""Checks in several processes.

They are forked once everything is parsed, so that nothing but findings is sent.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from reprocheck.scan.finding import Finding, Unreadable
from reprocheck.scan.judge import Judgement, begun, ended
from reprocheck.scan.project import Module, Project

ENOUGH_LINES = 4_000
"""Lines below which one process is faster than two."""

Given = TypeVar("Given")
Found = TypeVar("Found")
Judged = tuple[list[Finding], list[Unreadable]]
Projects = Sequence[tuple[Project, Sequence[Module]]]
Place = tuple[int, int]
"""A project and a module of it, by their numbers."""


def processes(lines: int, jobs: int | None) -> int:
    """How many processes to use."""
    if jobs is not None:
        return max(1, jobs)
    if lines < ENOUGH_LINES:
        return 1
    return len(os.sched_getaffinity(0))


def judge(projects: Projects, jobs: int, progress: Callable[[int], None]) -> list[Judged]:
    """The findings of each project's modules; `progress` is told how many modules are done."""
    if jobs <= 1:
        return [_one_by_one(modules, progress) for _, modules in projects]
    gc.freeze()
    try:
        return _in_parallel(projects, jobs, progress)
    finally:
        gc.unfreeze()


def _one_by_one(modules: Sequence[Module], progress: Callable[[int], None]) -> Judged:
    found: list[Finding] = []
    problems: list[Unreadable] = []
    for judgement in list(map(_begun, modules)):
        some, wrong = _ended(judgement)
        found += some
        problems += wrong
        progress(1)
    return found, problems


def _begun(module: Module) -> Judgement:
    """The first half of what is to be found in a module, of whose execution nothing is kept."""
    judgement = begun(module)
    module.forget()
    return judgement


def _ended(judgement: Judgement) -> Judged:
    done = ended(judgement)
    judgement.module.forget()
    return done


# ---------------------------------------------------------------------------------------- processes


@dataclass(eq=False, slots=True)
class Worker:
    """A process, the pipe to it, and what it has still to answer: (project, module) by their
    numbers.
    """

    process: BaseProcess
    pipe: Connection
    missing: list[Place]
    reported: bool = False


def _in_parallel(projects: Projects, jobs: int, progress: Callable[[int], None]) -> list[Judged]:
    """First every process checks its programs and says which functions these reach; once that is
    known of all, it checks the others.
    """
    context = multiprocessing.get_context("fork")
    results: list[Judged] = [([], []) for _ in projects]
    executed: list[set[int]] = [set() for _ in projects]
    workers: dict[Connection, Worker] = {}
    for share in _shares(projects, jobs):
        here, there = context.Pipe()
        process: BaseProcess = context.Process(
            target=_work, args=(projects, share, there, [here, *workers]), daemon=True
        )
        process.start()
        there.close()
        workers[here] = Worker(process=process, pipe=here, missing=list(share))
    try:
        while workers:
            for ready in wait(list(workers)):
                worker = workers[ready]  # type: ignore[index]
                if not _received(worker, projects, executed, results, progress):
                    del workers[worker.pipe]
            if workers and all(worker.reported for worker in workers.values()):
                _go_on(workers.values(), executed)
    finally:
        for worker in workers.values():
            worker.process.terminate()
    return results


def _go_on(workers: Iterable[Worker], executed: list[set[int]]) -> None:
    for worker in workers:
        worker.reported = False
        with suppress(OSError):  # one that ended is seen where its answers are received
            worker.pipe.send(executed)


def _received(
    worker: Worker,
    projects: Projects,
    executed: list[set[int]],
    results: list[Judged],
    progress: Callable[[int], None],
) -> bool:
    """Takes one answer of a process.

    False where it was the last one; where it ended too early, what is missing is said.
    """
    try:
        answer: Any = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        for index, number in worker.missing:
            reason = f"the process that scanned it ended (exit status {worker.process.exitcode})"
            results[index][1].append(
                Unreadable(path=projects[index][1][number].shown, reason=reason)
            )
        return False
    if isinstance(answer, Reached):
        for index, functions in answer.functions.items():
            executed[index] |= functions
        worker.reported = True
        return True
    place, found, problems = answer
    worker.missing.remove(place)
    results[place[0]][0].extend(found)
    results[place[0]][1].extend(problems)
    progress(1)
    return True


@dataclass(frozen=True, slots=True)
class Reached:
    """What a process says first: the functions that its programs reach, by the number of the
    project.
    """

    functions: dict[int, set[int]]


def _work(
    projects: Projects, share: Sequence[Place], pipe: Connection, others: Sequence[Connection]
) -> None:
    for other in others:
        other.close()
    judgements = {(index, number): _begun(projects[index][1][number]) for index, number in share}
    numbers = {index for index, _ in share}
    pipe.send(Reached({index: projects[index][0].executed for index in numbers}))
    for index, functions in enumerate(pipe.recv()):
        projects[index][0].executed |= functions
    for place, judgement in judgements.items():
        found, problems = _ended(judgement)
        pipe.send((place, found, problems))
    pipe.close()


def _shares(projects: Projects, jobs: int) -> list[list[Place]]:
    """The modules for each process, about as many lines for each.

    A small group of files stays together.
    """
    total = sum(len(module.source.lines) for _, modules in projects for module in modules)
    units: list[tuple[int, list[tuple[int, int]]]] = []
    for index, (_, modules) in enumerate(projects):
        sizes = [len(module.source.lines) for module in modules]
        together = sum(sizes) <= total / jobs / 2
        if together:
            units.append((sum(sizes), [(index, number) for number in range(len(modules))]))
        else:
            units += [(size, [(index, number)]) for number, size in enumerate(sizes)]
    shares: list[tuple[int, list[tuple[int, int]]]] = [(0, []) for _ in range(jobs)]
    for size, members in sorted(units, key=lambda unit: -unit[0]):
        least = min(range(jobs), key=lambda number: shares[number][0])
        shares[least] = (shares[least][0] + size, [*shares[least][1], *members])
    return [members for _, members in shares if members]


def each(function: Callable[[Given], Found], work: Sequence[Given], jobs: int) -> list[Found]:
    """What a function gives for each piece of work, in several processes where that is worth it."""
    if jobs <= 1 or len(work) < 2:
        return list(map(function, work))
    context = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(min(jobs, len(work)), mp_context=context) as pool:
            return list(pool.map(function, work))
    except BrokenProcessPool:  # one was killed, for its memory: the others are not there any more
        return list(map(function, work))


@contextmanager
def few_collections() -> Iterator[None]:
    """Trees are many objects, and stay: the collector is told to look at them seldom."""
    before = gc.get_threshold()
    gc.set_threshold(500_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
