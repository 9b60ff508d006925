"""Finds mirrors: what should differ inside one run and is the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from reprocheck.model import Run
from reprocheck.model.mirrors import Batch, Given, Mirror, MirrorKind, Mirrors, Pass, Task
from reprocheck.verdict.chance import are_too_many, is_noise
from reprocheck.verdict.rank_mirrors import of_ranks
from reprocheck.verdict.step_mirrors import of_steps

_SHORTEST_ORDER = 10
"""Samples of an order that chance repeats in less than one of a million cases: 10! orders."""
_LEAST = 2
"""Tasks or batches in a row that are the same, before something is a mirror."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Walk:
    """One pass over a loader, with its batches, and the tasks of each worker by their number."""

    began: Pass
    batches: tuple[Batch, ...]
    tasks: tuple[Mapping[int, Task], ...]

    @property
    def trains(self) -> bool:
        """Return whether losses came between its batches: an evaluation has none."""
        return len({batch.iteration for batch in self.batches}) > 1

    def samples(self, worker: int) -> list[tuple[str, ...]]:
        """Return the samples of each batch that a worker loaded."""
        return [batch.samples for batch in self.batches if batch.worker == worker]


def mirrors_of(run: Run) -> Mirrors:
    """Return the mirrors of a run."""
    found: dict[tuple[object, ...], Mirror] = {}
    seen: set[MirrorKind] = set()
    looks = [_of_loader(walks) for walks in _loaders(run.given)]
    looks += [of_ranks(run.given), of_steps(run.given)]
    for look in looks:
        for kind, mirror in look:
            seen.add(kind)
            if mirror is not None:
                found.setdefault((kind, mirror.place, mirror.line), mirror)
    kinds: tuple[MirrorKind, ...] = MirrorKind.__args__  # type: ignore[attr-defined]
    return Mirrors(
        found=tuple(sorted(found.values(), key=lambda one: kinds.index(one.kind))),
        not_seen=tuple(kind for kind in kinds if kind not in seen),
    )


def _loaders(given: Sequence[Given]) -> Iterator[list[_Walk]]:
    """Yield the passes of each loader that feeds a training."""
    by_process = {process.pid: process for process in given}
    for process in given:
        by_loader: defaultdict[str, list[_Walk]] = defaultdict(list)
        for walk in _walks(process, by_process):
            by_loader[walk.began.place].append(walk)
        # an epoch may have a loader of its own; another training has an optimizer of its own
        again: defaultdict[tuple[object, ...], list[_Walk]] = defaultdict(list)
        for walks in by_loader.values():
            if len(walks) > 1:
                yield [walk for walk in walks if walk.trains]
            else:
                began = walks[0].began
                again[began.line, began.dataset, began.optimizers] += walks
        for walks in again.values():
            yield [walk for walk in walks if walk.trains]


def _walks(process: Given, by_process: Mapping[int, Given]) -> Iterator[_Walk]:
    """Yield the passes that a process made, each with its batches and tasks."""
    batches: dict[int, list[Batch]] = {}
    passes: dict[str, Pass] = {}
    for fact in process.facts:
        if isinstance(fact, Pass):
            passes[fact.place] = fact
            batches[id(fact)] = []
        elif isinstance(fact, Batch) and fact.place in passes:
            batches[id(passes[fact.place])].append(fact)
    served: defaultdict[int, int] = defaultdict(int)  # worker -> passes that it has loaded for
    for fact in process.facts:
        if not isinstance(fact, Pass):
            continue
        own = tuple(batches[id(fact)])
        tasks = []
        for worker, pid in enumerate(fact.processes):
            last = sum(batch.worker in (worker, None) for batch in own)
            tasks.append(_tasks(by_process.get(pid), fact.fetcher, served[pid], last))
            served[pid] += 1
        yield _Walk(began=fact, batches=own, tasks=tuple(tasks))


def _tasks(worker: Given | None, fetcher: int | None, served: int, last: int) -> Mapping[int, Task]:
    """Return what a process drew for a pass, by the number of the batch; none that came later.

    fetcher  its number where the process serves several loaders, else it is the next of the worker
    last     how many of its batches reached the training
    """
    tasks = [fact for fact in worker.facts if isinstance(fact, Task)] if worker else []
    fetchers = sorted({task.fetcher for task in tasks})
    if fetcher is None and served < len(fetchers):
        fetcher = fetchers[served]
    return {task.number: task for task in tasks if task.fetcher == fetcher and task.number <= last}


_Look = Iterator[tuple[MirrorKind, Mirror | None]]


def _of_loader(walks: Sequence[_Walk]) -> _Look:
    """Yield each kind of which enough was recorded, with the mirror if there is one."""
    for walk in walks:
        yield from _of_workers(walk)
    for number, (walk, later) in enumerate(pairwise(walks), 1):
        passes = (number, number + 1)
        order = _same_order(walk.began, later.began)
        yield "epoch-order", order and replace(order, between=passes)
        for tasks, again in zip(walk.tasks, later.tasks, strict=False):
            if len(tasks) < _LEAST or len(again) < _LEAST:
                continue
            mirror = _same_draws("epoch-draws", tasks, again, walk.began.iterable)
            yield "epoch-draws", mirror and replace(mirror, between=passes)


def _of_workers(walk: _Walk) -> _Look:
    workers = range(len(walk.began.processes))
    for worker in workers[1:]:
        tasks, others = walk.tasks[0], walk.tasks[worker]
        if len(tasks) >= _LEAST and len(others) >= _LEAST:
            mirror = _same_draws("worker-draws", tasks, others, walk.began.iterable)
            yield "worker-draws", mirror and replace(mirror, between=(0, worker))
        samples, of_other = walk.samples(0), walk.samples(worker)
        if walk.began.iterable and min(len(samples), len(of_other)) >= _LEAST:
            yield "worker-samples", _same_samples(walk, worker)


def _same_draws(
    kind: MirrorKind, tasks: Mapping[int, Task], others: Mapping[int, Task], iterable: bool
) -> Mirror | None:
    """Return that two workers drew the same, task by task; None if they did not."""
    numbers = sorted(tasks.keys() & others.keys())
    if iterable:
        # with the first task the data set begins: all workers may order it alike, and share it out
        numbers = [number for number in numbers if number > 1]
    for generator in sorted({name for task in tasks.values() for name in task.states}):
        same = [
            tasks[number]
            for number in numbers
            if generator in tasks[number].states
            and tasks[number].states[generator] == others[number].states.get(generator)
        ]
        if len(same) < _LEAST:
            continue
        amounts = [task.amounts.get(generator, 0) for task in same]
        return Mirror(
            kind=kind,
            between=(),
            place=same[0].dataset,
            line=same[0].line,
            count=len(same),
            generator=generator,
            # of a data set that hands out a stream, few draws may only order it
            asked=iterable and not is_noise(amounts),
        )
    return None


def _same_samples(walk: _Walk, worker: int) -> Mirror | None:
    """Return that two workers loaded the same samples; None if they did not."""
    pairs = zip(walk.samples(0), walk.samples(worker), strict=False)
    same = [samples for samples, other in pairs if samples and samples == other]
    every = [sample for batch in walk.batches for sample in batch.samples]
    if len(same) < _LEAST or not are_too_many(sum(map(len, same)), len(set(every))):
        return None
    return Mirror(
        kind="worker-samples",
        between=(0, worker),
        place=walk.began.place,
        line=walk.began.line,
        count=len(same),
    )


def _same_order(order: Pass, again: Pass) -> Mirror | None:
    """Return that a pass has the order of the one before although it shuffles."""
    if not order.order or order.order != again.order or order.count < _SHORTEST_ORDER:
        return None
    if order.ascends or order.shuffles is False:
        return None
    return Mirror(
        kind="epoch-order",
        between=(),
        place=order.place,
        line=order.line,
        count=order.count,
        asked=order.shuffles is None,
    )
