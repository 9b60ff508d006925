"""Pair each process of a run with a process of run 1 if processes train without ranks.

A process is known by its origin (the chain of starts that led to it), if it is the only one of that
origin and its losses equal those of its counterpart in run 1. The other processes, which may have
got their work in a race, are compared as a set: each is paired with one of run 1 that has the same
losses, as far as there is one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count, filterfalse
from math import inf
from operator import attrgetter

from reprocheck.model import Process, Run, Tolerance, Trace
from reprocheck.model.statements.verdict import ComparedAsSet, NeverTogether, SilentRanks
from reprocheck.verdict.series import first_outside, first_unequal

_Pairs = dict[int, int]
"""Rank in a run -> rank in run 1."""
MOST_COMPARED = 40_000
"""Pairs of processes whose losses are held against the tolerance: of two hundred in each run."""
_ORIGIN: Callable[[Trace], tuple[str, ...]] = attrgetter("process.origin")


def paired(runs: Sequence[Run], tolerance: Tolerance) -> tuple[Run, ...]:
    """Return the runs, with each process of a later run numbered as its partner in run 1.

    Processes that were compared as a set are a caveat of their run.
    """
    under_ranks = list(runs[:1])
    for run in runs[1:]:
        numbers, as_set = partners(run, runs[0], tolerance)
        under_ranks.append(_with_ranks(run, numbers, as_set) if numbers else run)
    return tuple(under_ranks)


def partners(
    run: Run, reference: Run, tolerance: Tolerance
) -> tuple[dict[int, int], tuple[int, ...]]:
    """Return the partners of processes without ranks: rank in a run -> rank in run 1.

    The second value holds the ranks that were compared as a set.
    """
    own, others = _without_rank(run), _without_rank(reference)
    if not own or not others:
        return {}, ()
    pairs = _by_origin(own, others)
    # of each origin the larger number of processes in the two runs
    most = Counter(map(_ORIGIN, own.values())) | Counter(map(_ORIGIN, others.values()))
    not_alone = {rank for rank, trace in own.items() if most[_ORIGIN(trace)] > 1}
    unsure = (own.keys() - pairs.keys()) | not_alone
    unequal: set[int] = set()
    for rank, other in pairs.items():
        if first_unequal(own[rank].losses, others[other].losses) is not None:
            unequal.add(rank)
    settled = _as_sets(own, others, pairs, unsure, unequal, tolerance)
    numbers = {rank: pairs[rank] for rank in pairs.keys() - unsure - unequal} | settled
    changed: set[int] = set()
    for rank, other in settled.items():
        if rank in unsure or pairs.get(rank) != other:
            changed.add(other)
    with_rank = run.by_rank.keys() - own.keys()
    highest = max((*with_rank, *numbers.values()), default=-1)
    # those without a partner come behind all others
    without_partner = sorted(own.keys() - numbers.keys())
    numbers |= zip(without_partner, count(highest + 1), strict=False)
    return numbers, tuple(sorted(changed))


def _without_rank(run: Run) -> dict[int, Trace]:
    return {trace.rank: trace for trace in run.traces if trace.process.origin}


def _by_origin(own: Mapping[int, Trace], others: Mapping[int, Trace]) -> _Pairs:
    """Return pairs of processes of the same origin; several of one origin are paired in order.

    If the arguments differ, the first start in the origin differs: then only the later starts
    count.
    """
    pairs: _Pairs = {}
    for skipped in (0, 1):
        there = defaultdict(list)
        taken = set(pairs.values())
        for other in filterfalse(taken.__contains__, others):
            origin = _ORIGIN(others[other])
            there[origin[skipped:]].append(other)
        for rank in filterfalse(pairs.__contains__, own):
            origin = _ORIGIN(own[rank])
            waiting = there[origin[skipped:]]
            if waiting:
                pairs[rank] = waiting.pop(0)
    return pairs


def _as_sets(
    own: Mapping[int, Trace],
    others: Mapping[int, Trace],
    pairs: _Pairs,
    unsure: set[int],
    unequal: set[int],
    tolerance: Tolerance,
) -> _Pairs:
    """Return partners for the ranks whose pair is unsure or unequal.

    Partners are chosen by equal losses, then by losses within the tolerance, then by origin, then
    in order.
    """
    left = dict.fromkeys(sorted(unsure | unequal))
    taken = {other for rank, other in pairs.items() if rank not in left}
    free = dict.fromkeys(sorted(others.keys() - taken))
    settled: _Pairs = {}

    def settle(partners: Iterable[tuple[int, int]]) -> None:
        for rank, other in partners:
            if rank in left and other in free:
                settled[rank] = other
                del left[rank], free[other]

    settle(pair for pair in pairs.items() if pair[0] not in unequal)
    there = _by_losses(others, free)
    for bits, alike in _by_losses(own, left).items():
        settle(zip(alike, there[bits], strict=False))
    close: dict[int, list[int]] = {}
    if len(left) * len(free) <= MOST_COMPARED:
        for rank in left:
            losses = own[rank].losses
            near = [
                other
                for other in free
                if first_outside(losses, others[other].losses, tolerance) is None
            ]
            close[rank] = sorted(near, key=lambda other: other != pairs.get(rank))
    settle(_matched(close))
    settle(pairs.items())
    # Copies, as both change while partners are settled.
    settle(zip(list(left), list(free), strict=False))
    return settled


def _by_losses(traces: Mapping[int, Trace], ranks: Iterable[int]) -> dict[object, list[int]]:
    """Return losses -> the ranks that recorded exactly these losses, in order."""
    ranks_of: dict[object, list[int]] = defaultdict(list)
    for rank in ranks:
        series = traces[rank].losses
        columns = (series.values.tobytes(), series.ends.tobytes(), series.dtype_of.tobytes())
        ranks_of[columns, series.dtypes, *series.exact.items()].append(rank)
    return ranks_of


def _matched(candidates: Mapping[int, Sequence[int]]) -> list[tuple[int, int]]:
    """Return a largest set of pairs of a rank and one of its candidates.

    Found by augmenting paths.
    """
    partner: dict[int, int] = {}

    def place(rank: int, tried: set[int]) -> bool:
        # Asked of each in its turn: while it is placed, others are tried, too.
        for other in filterfalse(tried.__contains__, candidates[rank]):
            tried.add(other)
            if other not in partner or place(partner[other], tried):
                partner[other] = rank
                return True
        return False

    for rank in candidates:
        place(rank, set())
    return list(zip(partner.values(), partner.keys(), strict=True))


def _with_ranks(run: Run, numbers: Mapping[int, int], as_set: tuple[int, ...]) -> Run:
    def moved(trace: Trace) -> Trace:
        rank = numbers.get(trace.rank, trace.rank)
        return replace(trace, rank=rank, process=replace(trace.process, rank=rank))

    of_process = {
        (trace.process.pid, trace.process.started): numbers[trace.rank]
        for trace in run.traces
        if trace.rank in numbers
    }
    caveats = run.caveats
    if as_set:
        caveats = (*caveats, ComparedAsSet(ranks=as_set))
    return replace(
        run,
        traces=tuple(sorted(map(moved, run.traces), key=lambda trace: trace.rank)),
        processes=tuple(
            replace(one, rank=of_process.get((one.pid, one.started), one.rank))
            for one in run.processes
        ),
        caveats=caveats,
    )


def apart(runs: Sequence[Run]) -> NeverTogether | None:
    """Return that one process was stopped before another had its first loss.

    Then it is not known how the two affect each other. None if all were seen side by side.
    """
    for run in runs:
        processes = [trace.process for trace in run.traces if trace.process.origin]
        ends: dict[int | None, list[float]] = defaultdict(list)
        for process in sorted(processes, key=_left):
            ends[process.node].append(_left(process))
        for late in sorted(processes, key=_began):
            of_machine = ends[late.node]
            started = bisect_right(of_machine, late.started)
            if started < bisect_left(of_machine, _began(late)):
                stopped = next(one for one in processes if _was_waiting(late, one))
                return NeverTogether(run=run.number, late=late.rank, stopped=stopped.rank)
    return None


def _was_waiting(late: Process, stopped: Process) -> bool:
    """Return whether `late` was started, but had no loss yet, when `stopped` was ended.

    False for processes on two machines, because their clocks are not compared.
    """
    same_machine = late.node == stopped.node
    return same_machine and late.started < _left(stopped) < _began(late)


def _left(process: Process) -> float:
    """Return when a process was ended at its stop; infinity if that is not known."""
    return process.left or inf


def _began(process: Process) -> float:
    """Return when a process had its first loss; 0 if that is not known."""
    return process.began or 0.0


def silent(runs: Sequence[Run]) -> SilentRanks | None:
    """Return the ranks that never reported, of the first run that has such ranks."""
    for run in runs:
        if run.absent:
            return SilentRanks(run=run.number, world=run.world, ranks=run.absent)
    return None
