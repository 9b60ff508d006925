"""Decides which rank each training process has.

The answer never depends on process ids, because those differ from run to run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isnan

from reprocheck.model.statement import Statement
from reprocheck.model.statements.trace import (
    RanksGiven,
    RanksMissing,
    SecondProcess,
    TrainingsInThreads,
)
from reprocheck.trace.origin import Origins
from reprocheck.trace.process import Recorded


def assign(trainers: Sequence[Recorded], processes: Sequence[Recorded]) -> dict[int, Recorded]:
    """Return rank -> process, in the order of the ranks.

    A process keeps the rank that it reported. If two processes reported the same rank, or a process
    reported none, further ranks are given in an order that is the same in each run: first by the
    origin of the process, then by its losses.

    trainers   the processes that trained, in order of their start
    processes  all processes of the run
    """
    ranks: dict[int, Recorded] = {}
    left: list[Recorded] = []
    for recorded in trainers:
        if recorded.rank is not None and recorded.rank not in ranks:
            ranks[recorded.rank] = recorded
        else:
            left.append(recorded)
    origins = Origins(processes)
    for recorded in left:
        recorded.origin = (*origins.of(recorded), *recorded.training)
    _count_starts(left)
    for recorded in sorted(left, key=_order):
        ranks[max(ranks, default=-1) + 1] = recorded
    return dict(sorted(ranks.items()))


def _count_starts(trainers: Sequence[Recorded]) -> None:
    """Add `start 1`, `start 2`, … to the origins of processes that ran one after the other.

    Their order is no race, so that the number tells processes of the same origin apart in each run.
    """
    groups: dict[tuple[str, ...], list[Recorded]] = defaultdict(list)
    for recorded in trainers:
        groups[recorded.origin].append(recorded)
    for group in groups.values():
        if len(group) > 1 and all(
            one.over is not None and one.over <= other.process.time
            for one, other in pairwise(group)
        ):
            for number, recorded in enumerate(group, start=1):
                recorded.origin = (*recorded.origin, f"start {number}")


def numbered(by_rank: Mapping[int, Recorded]) -> list[Statement]:
    """Return statements about the processes whose rank reprocheck chose."""
    given = {rank: one for rank, one in by_rank.items() if one.origin and not one.training}
    statements: list[Statement] = [
        SecondProcess(rank=one.rank, reported=rank)
        for rank, one in given.items()
        if one.rank is not None
    ]
    without = tuple(rank for rank, one in given.items() if one.rank is None)
    if len(by_rank) > 1 and without:
        statements.append(RanksGiven(ranks=without))
    return statements


def in_threads(by_rank: Mapping[int, Recorded]) -> list[Statement]:
    """Return a statement about the ranks that are trainings in threads or tasks of one process."""
    named = tuple((rank, one.training[-1]) for rank, one in by_rank.items() if one.training)
    return [TrainingsInThreads(trainings=named)] if named else []


def _order(recorded: Recorded) -> tuple[object, ...]:
    rank = recorded.rank
    if rank is None:
        rank = -1
    # NaN is neither below nor above a number: without the first of the pair, sorting would depend
    # on the order in which the processes are looked at.
    losses = list(zip(map(isnan, recorded.values), recorded.values, strict=True))
    return (rank, list(map(_natural, recorded.origin)), losses)


def inherit(processes: Sequence[Recorded]) -> None:
    """Copy to each forked process the frameworks of its parent, which saw the imports."""
    by_pid = {(one.node, one.process.pid): one for one in processes}
    for one in processes:
        if one.process.how != "fork" or one.frameworks:
            continue
        parent = by_pid.get((one.node, one.process.ppid), one)
        one.frameworks = dict(parent.frameworks)


def world(by_rank: Mapping[int, Recorded]) -> int:
    """Return the number of ranks that the training processes reported; 0 if none did."""
    return max(filter(None, (one.world for one in by_rank.values())), default=0)


def absent(by_rank: Mapping[int, Recorded]) -> tuple[int, ...]:
    """Return the ranks that recorded nothing, although the number of ranks includes them."""
    ranks = world(by_rank)
    if ranks <= len(by_rank):
        return ()
    return tuple(sorted(set(range(ranks)) - by_rank.keys()))


def missing(by_rank: Mapping[int, Recorded], processes: Sequence[Recorded]) -> list[Statement]:
    """Return a statement about the ranks that recorded nothing.

    It tells ranks whose process was never seen from ranks whose process ran and did not train.
    """
    lost = absent(by_rank)
    if not lost:
        return []
    started = {one.rank for one in processes if one.rank is not None and not one.trained}
    return [
        RanksMissing(
            recorded=len(by_rank),
            world=world(by_rank),
            unseen=tuple(sorted(set(lost) - started)),
            silent=tuple(sorted(started & set(lost))),
        )
    ]


def _natural(name: str) -> list[tuple[str, int]]:
    """Return a key that sorts `fork 10` after `fork 9`."""
    pieces = re.findall(r"(\D*)(\d{0,18})", name)
    return [(text, int(digits or -1)) for text, digits in pieces]
