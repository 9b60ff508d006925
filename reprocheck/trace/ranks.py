"""Which rank a training process is.

The answer never depends on process ids, which differ from run to run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isnan

from reprocheck.model.ranks import named
from reprocheck.trace.origin import Origins
from reprocheck.trace.process import Recorded


def assign(trainers: Sequence[Recorded], processes: Sequence[Recorded]) -> dict[int, Recorded]:
    """Rank -> process, in rank order.

    `trainers` are in order of their start; `processes`: all of the run.

    A process keeps the rank that it said it had. Where two say the same, or none was said, further
    ranks are given in the order of what does not race: where they come from, then what they
    recorded.
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
        recorded.origin = origins.of(recorded)
    _count_starts(left)
    for recorded in sorted(left, key=_order):
        ranks[max(ranks, default=-1) + 1] = recorded
    return dict(sorted(ranks.items()))


def _count_starts(trainers: Sequence[Recorded]) -> None:
    """Where one began when the one before had ended, their order is no race and tells them
    apart.
    """
    groups: dict[tuple[str, ...], list[Recorded]] = {}
    for recorded in trainers:
        groups.setdefault(recorded.origin, []).append(recorded)
    for group in groups.values():
        one_by_one = all(
            a.over is not None and a.over <= b.process.time for a, b in pairwise(group)
        )
        if len(group) < 2 or not one_by_one:
            continue
        for number, recorded in enumerate(group, start=1):
            recorded.origin = (*recorded.origin, f"start {number}")


def numbered(by_rank: Mapping[int, Recorded]) -> list[str]:
    """What is to be said of processes that were given a number."""
    given = {rank: one for rank, one in by_rank.items() if one.origin}
    second = [
        f"A second process trained as rank {one.rank}; it is reported as rank {rank}."
        for rank, one in given.items()
        if one.rank is not None
    ]
    unsaid = [rank for rank, one in given.items() if one.rank is None]
    if len(by_rank) < 2 or not unsaid:
        return second
    if len(unsaid) == 1:
        return [
            *second,
            f"A process trained without saying its rank; it is reported as {named(unsaid)}.",
        ]
    return [
        *second,
        (
            "Several processes trained without saying their ranks; they are reported as"
            f" {named(unsaid)}."
        ),
    ]


def _order(recorded: Recorded) -> tuple[object, ...]:
    said = -1 if recorded.rank is None else recorded.rank
    losses = [(isnan(value), value) for value in recorded.values]
    return (said, [_natural(word) for word in recorded.origin], losses)


def inherit(processes: Sequence[Recorded]) -> None:
    """A fork has its frameworks from the process that it was forked from, which alone saw them
    being imported.
    """
    by_pid = {(one.node, one.process.pid): one for one in processes}
    for one in processes:
        parent = by_pid.get((one.node, one.process.ppid)) if one.process.how == "fork" else None
        if parent is not None and parent is not one and not one.frameworks:
            one.frameworks = dict(parent.frameworks)


def world(by_rank: Mapping[int, Recorded]) -> int:
    """The number of ranks, as those that trained said; 0 where none did."""
    return max((one.world or 0 for one in by_rank.values()), default=0)


def absent(by_rank: Mapping[int, Recorded]) -> tuple[int, ...]:
    """The ranks of the world that recorded nothing."""
    said = world(by_rank)
    return (
        () if said <= len(by_rank) else tuple(rank for rank in range(said) if rank not in by_rank)
    )


def missing(by_rank: Mapping[int, Recorded], processes: Sequence[Recorded]) -> list[str]:
    """What is known of the ranks that recorded nothing: those of which no process was seen, and
    those of which one was.
    """
    lost = absent(by_rank)
    if not lost:
        return []
    started = {one.rank for one in processes if not one.trained and one.rank is not None}
    quiet, unseen = (
        [rank for rank in lost if rank in started],
        [rank for rank in lost if rank not in started],
    )
    parts = []
    if unseen:
        parts.append(f"no process of {named(unseen)} loaded the recorder")
    if quiet:
        parts.append(f"{named(quiet)} started and recorded none")
    return [
        f"{len(by_rank)} of {world(by_rank)} ranks reported a loss or an update:"
        f" {', and '.join(parts)}."
    ]


def _natural(name: str) -> list[tuple[str, int]]:
    """`fork 10` after `fork 9`."""
    return [
        (text, int(digits) if digits else -1)
        for text, digits in re.findall(r"(\D*)(\d{0,18})", name)
    ]
