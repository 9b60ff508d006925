"""The targets of a suite, shared out to several machines by how long each of them takes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from reprocheck.errors import UsageError
from reprocheck.suite.target import Target

_SHARD = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Share:
    """Hold the targets of one machine, by name.

    name  as the night records it: `2/8`, with a digest behind it where the targets are not shared
          out by their names alone. Shards whose digests differ do not belong to one night.
    """

    targets: tuple[Target, ...]
    name: str


def share(targets: Sequence[Target], shard: str, seconds: Mapping[str, float]) -> Share:
    """Return the share `2/8` of the targets, which are sorted by name.

    Every target is in exactly one of the eight, and the shares take about the same time.

    seconds  how long each target took, as far as that is known

    Raises UsageError for a shard that is none.
    """
    found = _SHARD.fullmatch(shard)
    number, of = map(int, found.groups()) if found else (0, 0)
    if not 1 <= number <= of:
        raise UsageError(
            f"--shard {shard} is no shard.", "Write it as --shard 2/8: the second of eight, from 1."
        )
    known = expected(targets, seconds)
    typical = median(known.values()) if known else 1.0
    cost = {target.name: known.get(target.name, typical) for target in targets}
    if of >= len(targets) or len(set(cost.values())) == 1:
        return Share(tuple(targets[number - 1 :: of]), shard)
    shares: list[list[Target]] = [[] for _ in range(of)]
    totals = [0.0] * of
    for target in sorted(targets, key=lambda target: (-cost[target.name], target.name)):
        least = totals.index(min(totals))
        shares[least].append(target)
        totals[least] += cost[target.name]
    names = json.dumps([[target.name for target in one] for one in shares])
    digest = hashlib.sha256(names.encode()).hexdigest()[:8]
    mine = sorted(shares[number - 1], key=lambda target: target.name)
    return Share(tuple(mine), f"{shard}@{digest}")


def expected(targets: Iterable[Target], seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds that each target is expected to take.

    It is what it took, else the minutes that it asks for; targets of which neither is known are
    left out.
    """
    asked = {one.name: one.needs.minutes * 60.0 for one in targets if one.needs.minutes}
    return {**asked, **seconds}
