"""Which rank a training process is. The answer never depends on process ids, which differ from run to run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reprocheck.model.ranks import named
from reprocheck.trace.process import Recorded


def assign(trainers: Sequence[Recorded]) -> dict[int, Recorded]:
    """Rank -> process, in rank order. `trainers` are in order of their start.

    A process keeps the rank that it said it had. Where two say the same, or none was said, further ranks are given in order
    of process name and start; each process that got one for that reason says so in its caveats.
    """
    ordered = sorted(trainers, key=lambda recorded: _natural(recorded.process.name))
    ranks: dict[int, Recorded] = {}
    left: list[Recorded] = []
    for recorded in ordered:
        if recorded.rank is not None and recorded.rank not in ranks:
            ranks[recorded.rank] = recorded
        else:
            left.append(recorded)
    left.sort(key=lambda recorded: -1 if recorded.rank is None else recorded.rank)
    for recorded in left:
        rank = max(ranks, default=-1) + 1
        if recorded.rank is not None:
            recorded.caveats.append(
                f"A second process trained as rank {recorded.rank}; it is reported as rank {rank} (in order of process name and start)."
            )
        elif ranks:
            recorded.caveats.append(
                f"Several processes trained without saying their rank; one is reported as rank {rank} (in order of process name and start)."
            )
        ranks[rank] = recorded
    return dict(sorted(ranks.items()))


def inherit(processes: Sequence[Recorded]) -> None:
    """A fork has its frameworks from the process that it was forked from, which alone saw them being imported."""
    by_pid = {(one.node, one.process.pid): one for one in processes}
    for one in processes:
        parent = by_pid.get((one.node, one.process.ppid)) if one.process.how == "fork" else None
        if parent is not None and parent is not one and not one.frameworks:
            one.frameworks = dict(parent.frameworks)


def missing(by_rank: Mapping[int, Recorded], processes: Sequence[Recorded]) -> list[str]:
    """The ranks of the world that recorded nothing: those of which no process was seen, and those of which one was."""
    trainers = list(by_rank.values())
    world = max((one.world or 0 for one in trainers), default=0)
    if world <= len(trainers):
        return []
    lost = [rank for rank in range(world) if rank not in by_rank]
    started = {one.rank for one in processes if not one.trained and one.rank is not None}
    silent, absent = [rank for rank in lost if rank in started], [rank for rank in lost if rank not in started]
    parts = []
    if absent:
        parts.append(f"no process of {named(absent)} loaded the recorder")
    if silent:
        parts.append(f"{named(silent)} started and recorded none")
    return [f"{len(trainers)} of {world} ranks reported a loss or an update: {', and '.join(parts)}."]


def _natural(name: str) -> list[tuple[int, str]]:
    """`Process-10` after `Process-9`."""
    return [(int(digits), text) if digits else (-1, text) for text, digits in re.findall(r"(\D*)(\d{0,18})", name)]
