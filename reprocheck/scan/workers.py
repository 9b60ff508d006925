"""Checks in several processes. They are forked once everything is parsed, so that nothing but findings is sent."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from reprocheck.scan.finding import Finding, Unreadable
from reprocheck.scan.judge import judged
from reprocheck.scan.project import Module, Project

ENOUGH_LINES = 4_000
"""Lines below which one process is faster than two."""

Judged = tuple[list[Finding], list[Unreadable]]
Progress = Callable[[int, int], None]


def processes(lines: int, jobs: int | None) -> int:
    """How many processes to use."""
    wanted = jobs if jobs is not None else len(os.sched_getaffinity(0))
    return 1 if lines < ENOUGH_LINES and jobs is None else max(1, wanted)


def judge(projects: Sequence[tuple[Project, Sequence[Module]]], jobs: int, progress: Callable[[int], None]) -> list[Judged]:
    """The findings of each project's modules; `progress` is told how many modules are done."""
    if jobs <= 1:
        return [_one_by_one(project, modules, progress) for project, modules in projects]
    gc.freeze()
    try:
        return _in_parallel(projects, jobs, progress)
    finally:
        gc.unfreeze()


def _one_by_one(project: Project, modules: Sequence[Module], progress: Callable[[int], None]) -> Judged:
    found: list[Finding] = []
    problems: list[Unreadable] = []
    for module in modules:
        some, wrong = judged(project, [module])
        found += some
        problems += wrong
        progress(1)
    return found, problems


# -------------------------------------------------------------------------------------------------------------------- processes


def _in_parallel(projects: Sequence[tuple[Project, Sequence[Module]]], jobs: int, progress: Callable[[int], None]) -> list[Judged]:
    shares = _shares(projects, jobs)
    context = multiprocessing.get_context("fork")
    results: list[Judged] = [([], []) for _ in projects]
    running: dict[Connection, tuple[BaseProcess, list[tuple[int, int]]]] = {}
    for share in shares:
        here, there = context.Pipe(duplex=False)
        process: BaseProcess = context.Process(target=_work, args=(projects, share, there, list(running)), daemon=True)
        process.start()
        there.close()
        running[here] = (process, list(share))
    try:
        while running:
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                _received(ready, projects, running, results, progress)
    finally:
        for process, _ in running.values():
            process.terminate()
    return results


def _received(
    ready: Connection,
    projects: Sequence[tuple[Project, Sequence[Module]]],
    running: dict[Connection, tuple[BaseProcess, list[tuple[int, int]]]],
    results: list[Judged],
    progress: Callable[[int], None],
) -> None:
    """Takes one answer of a process; where it ended before its last one, what is missing is said."""
    process, missing = running[ready]
    try:
        answer: Any = ready.recv()
    except (EOFError, OSError):
        process.join()
        del running[ready]
        for index, number in missing:
            module = projects[index][1][number]
            reason = f"the process that scanned it ended (exit status {process.exitcode})"
            results[index][1].append(Unreadable(path=module.shown, reason=reason))
        return
    index, number, found, problems = answer
    missing.remove((index, number))
    results[index][0].extend(found)
    results[index][1].extend(problems)
    progress(1)


def _work(
    projects: Sequence[tuple[Project, Sequence[Module]]],
    share: Sequence[tuple[int, int]],
    answers: Connection,
    others: Sequence[Connection],
) -> None:
    for other in others:
        other.close()
    for index, number in share:
        project, modules = projects[index]
        found, problems = judged(project, [modules[number]])
        answers.send((index, number, found, problems))
    answers.close()


def _shares(projects: Sequence[tuple[Project, Sequence[Module]]], jobs: int) -> list[list[tuple[int, int]]]:
    """The modules for each process, about as many lines for each. A small group of files stays together."""
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


@contextmanager
def few_collections() -> Iterator[None]:
    """Trees are many objects, and stay: the collector is told to look at them seldom."""
    before = gc.get_threshold()
    gc.set_threshold(500_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
