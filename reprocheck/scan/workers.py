"""Run the checks in several processes.

The processes are forked before anything is parsed. Each parses the modules of its share and their
imports, sends its findings, and frees syntax trees if they become too many.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from operator import itemgetter
from typing import Any, TypeVar

from reprocheck.scan.finding import Finding, Unreadable
from reprocheck.scan.judge import Judgement, begun, ended
from reprocheck.scan.project import Module, Project
from reprocheck.scan.values import Place as Defined

ENOUGH_LINES = 4_000
"""Lines below which one process is faster than two."""

MOST_LINES = 80_000
"""Lines of which all processes together keep the trees when they go on to other modules: about
120 MB.

What a module imports stays for as long as that module is checked, however much it is.
"""
RUNS = 8
"""Runs of neighbouring files into which the work of a process is divided: neighbours import the
same.
"""

Given = TypeVar("Given")
Found = TypeVar("Found")
Judged = tuple[list[Finding], list[Unreadable]]
Projects = Sequence[tuple[Project, Sequence[Module]]]
Place = tuple[int, int]
"""A project and a module of it, by their numbers."""


def processes(lines: int, jobs: int | None) -> int:
    """Return the number of processes: `jobs` if given, 1 for few lines, else one per core."""
    if jobs is not None:
        return max(1, jobs)
    if lines < ENOUGH_LINES:
        return 1
    return len(os.sched_getaffinity(0))


def judge(projects: Projects, jobs: int, progress: Callable[[int], None]) -> list[Judged]:
    """Return the findings in each project's modules.

    `progress` gets the number of modules just finished.
    """
    gc.freeze()
    try:
        if jobs <= 1:
            results_of_projects: list[Judged] = []
            for _, modules in projects:
                findings: list[Finding] = []
                problems: list[Unreadable] = []
                for some, wrong in _one_by_one(modules):
                    findings += some
                    problems += wrong
                    progress(1)
                results_of_projects.append((findings, problems))
            return results_of_projects
        # First every process checks its programs and says which functions these reach; once that
        # is known of all, it checks the others
        context = multiprocessing.get_context("fork")
        results: dict[Place, Judged] = {}
        executed: list[set[Defined]] = [set() for _ in projects]
        workers: dict[Connection, Worker] = {}
        for share in _shares(projects, jobs):
            here, there = context.Pipe()
            process: BaseProcess = context.Process(
                target=_work, args=(projects, share, there, [here, *workers], jobs), daemon=True
            )
            process.start()
            there.close()
            workers[here] = Worker(process=process, pipe=here, missing=share.places(projects))
        try:
            while workers:
                for ready in wait(list(workers)):
                    worker = workers[ready]  # type: ignore[index]
                    if not _received(worker, projects, executed, results, progress):
                        del workers[worker.pipe]
                if all(worker.reported for worker in workers.values()):
                    for worker in workers.values():
                        worker.reported = False
                        with suppress(OSError):  # one that ended is seen where it is received from
                            worker.pipe.send(executed)
        finally:
            for worker in workers.values():
                worker.process.terminate()
        joined: list[Judged] = [([], []) for _ in projects]
        for (index, _), (some, wrong) in sorted(results.items(), key=itemgetter(0)):
            joined[index][0].extend(some)
            joined[index][1].extend(wrong)
        return joined
    finally:
        gc.unfreeze()


def _one_by_one(modules: Sequence[Module]) -> Iterator[Judged]:
    """Yield the findings and problems of each module of a project."""
    for judgement in list(map(_begun, modules)):
        yield _ended(judgement)
    _ROOM.let_go(modules[0].project)


def _begun(module: Module) -> Judgement:
    """Return the first half of the findings in a module, and free its executed orders."""
    judgement = begun(module)
    _ROOM.is_made(module)
    return judgement


def _ended(judgement: Judgement) -> Judged:
    done = ended(judgement)
    _ROOM.is_made(judgement.module)
    return done


@dataclass(slots=True)
class Room:
    """The memory that syntax trees take in this process, in lines of source.

    most      lines whose trees may be kept
    needed    lines whose trees one module needed, when no earlier trees were kept
    garbage   lines of trees that were freed, but stay in memory until the garbage collector runs,
              because their values refer to one another
    """

    most: int = MOST_LINES
    needed: int = 0
    garbage: int = 0

    def is_made(self, module: Module) -> None:
        """Free the executed orders of a module, and all trees of its project if there are too many.

        If one module alone needs nearly all the room, the trees stay until they are twice as many,
        because the project's other modules mostly need the same trees.
        """
        module.forget()
        held = module.project.held
        self.needed = self.needed or held
        if held > max(self.most, 2 * self.needed):
            self.let_go(module.project)

    def let_go(self, project: Project) -> None:
        """Free the trees of a project, and run the garbage collector if much is freed."""
        self.garbage += project.held
        self.needed = 0
        project.let_go()
        if self.garbage > self.most:
            self.garbage = 0
            gc.collect()


_ROOM = Room()


@dataclass(eq=False, slots=True)
class Worker:
    """A process, the pipe to it, and the modules whose findings it has not sent yet.

    missing   (number of the project, number of the module) of each such module
    reported  whether the process has sent which functions its programs reach
    """

    process: BaseProcess
    pipe: Connection
    missing: list[Place]
    reported: bool = False


def _received(
    worker: Worker,
    projects: Projects,
    executed: list[set[Defined]],
    results: dict[Place, Judged],
    progress: Callable[[int], None],
) -> bool:
    """Take one message from a process; return False if it was the last one.

    If the process ended too early, its missing modules become problems.
    """
    try:
        answer: Any = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        reason = f"the process that scanned it ended (exit status {worker.process.exitcode})"
        for index, number in worker.missing:
            shown = projects[index][1][number].shown
            results[index, number] = [], [Unreadable(path=shown, reason=reason)]
        return False
    if isinstance(answer, Reached):
        for index, functions in answer.functions.items():
            executed[index] |= functions
        worker.reported = True
        return True
    place, found, problems = answer
    worker.missing.remove(place)
    results[place] = found, problems
    progress(1)
    return True


@dataclass(frozen=True, slots=True)
class Reached:
    """The message of a process about its programs: the functions that they reach.

    They stand by the number of the project.
    """

    functions: dict[int, set[Defined]]


@dataclass(frozen=True, slots=True)
class Share:
    """The work of one process.

    whole   numbers of the projects that the process does alone
    parts   modules of projects that several processes do
    """

    whole: tuple[int, ...]
    parts: tuple[Place, ...]

    def places(self, projects: Projects) -> list[Place]:
        """Return (project number, module number) of all modules of the share."""
        of_whole = [(index, at) for index in self.whole for at in range(len(projects[index][1]))]
        return [*of_whole, *self.parts]


def _work(
    projects: Projects, share: Share, pipe: Connection, others: Sequence[Connection], jobs: int
) -> None:
    for other in others:
        other.close()
    _ROOM.most = MOST_LINES // jobs
    for index in share.whole:
        for number, (found, problems) in enumerate(_one_by_one(projects[index][1])):
            pipe.send(((index, number), found, problems))
    judgements = {(index, at): _begun(projects[index][1][at]) for index, at in share.parts}
    numbers = {index for index, _ in share.parts}
    pipe.send(Reached({index: projects[index][0].executed for index in numbers}))
    for index, functions in enumerate(pipe.recv()):
        projects[index][0].executed |= functions
    for place, judgement in judgements.items():
        found, problems = _ended(judgement)
        pipe.send((place, found, problems))
    pipe.close()


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of work, a project or neighboring modules of a large one, and its number of lines."""

    lines: int
    share: Share


def _shares(projects: Projects, jobs: int) -> list[Share]:
    """Return the share of each process, with about as many lines for each."""
    total = sum(module.outline.lines for _, modules in projects for module in modules)
    units = chain.from_iterable(
        _units(index, modules, total // jobs) for index, (_, modules) in enumerate(projects)
    )
    lines = [0] * jobs
    whole: list[list[int]] = [[] for _ in range(jobs)]
    parts: list[list[Place]] = [[] for _ in range(jobs)]
    for unit in sorted(units, key=lambda unit: -unit.lines):
        least = min(range(jobs), key=lines.__getitem__)
        lines[least] += unit.lines
        whole[least] += unit.share.whole
        parts[least] += unit.share.parts
    shares = [
        Share(whole=tuple(sorted(projects_of)), parts=tuple(sorted(modules_of)))
        for projects_of, modules_of in zip(whole, parts, strict=True)
    ]
    return [share for share in shares if share.whole or share.parts]


def _units(index: int, modules: Sequence[Module], fair: int) -> Iterator[Unit]:
    """Yield the units of a project: one if it is at most half of a fair share, else several.

    index  number of the project
    fair   lines of source that each process should get
    """
    lines = sum(module.outline.lines for module in modules)
    if lines <= fair / 2:
        yield Unit(lines, Share(whole=(index,), parts=()))
        return
    run: list[Place] = []
    lines = 0
    for number, module in enumerate(modules):
        run.append((index, number))
        lines += module.outline.lines
        if lines * RUNS > fair:
            yield Unit(lines, Share(whole=(), parts=tuple(run)))
            run, lines = [], 0
    yield Unit(lines, Share(whole=(), parts=tuple(run)))


def each(function: Callable[[Given], Found], work: Sequence[Given], jobs: int) -> list[Found]:
    """Return the result of a function for each piece of work, in up to `jobs` processes."""
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
    """Make the garbage collector run seldom during a `with` block.

    Syntax trees are many objects that stay.
    """
    before = gc.get_threshold()
    gc.set_threshold(500_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
