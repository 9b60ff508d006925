"""The shards of a night as one night, and the nights of one history in another.

Shards of one night are nights of the same suite at the same commit, each with another share of the
same number, that began within half a day. Nothing says so more surely: each machine named its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from sqlalchemy import Connection, delete, insert, select, text, update

from reprocheck.suite.history import retention, rows
from reprocheck.suite.history.folders import Bring
from reprocheck.suite.history.store import History
from reprocheck.suite.history.tables import baselines, checks, nights, parts, states
from reprocheck.suite.model import Night

APART = 12 * 3600
"""Seconds between the starts of two shards of one night, at most."""
LOCK = 0x73686172
"""The number of the lock that a join takes in PostgreSQL."""
_PART = r"\d{1,4}(?:-\d{1,4})?"
_SHARD = re.compile(rf"(?P<numbers>{_PART}(?:,{_PART}){{0,2000}})/(?P<of>\d{{1,4}})")


@dataclass(frozen=True, slots=True)
class Share:
    """Say which shards a night holds: `numbers`, out of 1 to `of`."""

    numbers: frozenset[int]
    of: int

    @property
    def missing(self) -> tuple[int, ...]:
        """Return the numbers of the shards that the night lacks."""
        return tuple(sorted(set(range(1, self.of + 1)) - self.numbers))

    @property
    def words(self) -> str:
        """Format the shards that the night holds: `1-3,5/8`; "" if none is missing."""
        if not self.missing:
            return ""
        return f"{ranges(self.numbers)}/{self.of}"


def share_of(night: Night) -> Share | None:
    """Return which shards a night holds; None if the night is not sharded."""
    found = _SHARD.fullmatch(night.shard)
    if found is None:
        return None
    numbers: set[int] = set()
    for part in found["numbers"].split(","):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    of = int(found["of"])
    if not numbers or not 1 <= min(numbers) <= max(numbers) <= of:
        return None
    return Share(frozenset(numbers), of)


def ranges(numbers: frozenset[int] | Sequence[int]) -> str:
    """Format numbers as ranges: `1-3,5` for 1, 2, 3 and 5."""
    ordered = sorted(numbers)
    starts = [ordered[0], *(after for before, after in pairwise(ordered) if after != before + 1)]
    ends = [*(before for before, after in pairwise(ordered) if after != before + 1), ordered[-1]]
    return ",".join(
        str(start) if start == end else f"{start}-{end}"
        for start, end in zip(starts, ends, strict=True)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """Hold what one history brought into another.

    nights     names of the nights in the other history, each with its number of new checks
    baselines  how many baselines were new
    unended    nights of the other history that had not ended
    """

    nights: Mapping[str, int]
    baselines: int
    unended: tuple[Night, ...]


def merge(into: History, other: History, bring: Bring) -> Merged:
    """Record the nights, checks, states and baselines of another history; repeating changes
    nothing.

    The states of a shard are not taken, because the shard knows nothing of other shards' targets.
    `bring` copies the report folder of a check, as `folders.bringing` says.
    """
    nights_there = other.nights()
    new = {night.id: _merge_night(into, other, night, bring) for night in nights_there}
    # what was accepted there after the newest baseline of the same target and key here
    here = {
        (baseline.target, baseline.key.digest): baseline.when
        for baseline in reversed(into.baselines())
    }
    later = [
        baseline
        for baseline in reversed(other.baselines())
        if baseline.when > here.get((baseline.target, baseline.key.digest), float("-inf"))
    ]
    for baseline in later:
        into.accept(baseline)
    unended = tuple(night for night in nights_there if night.ended is None)
    return Merged(nights=new, baselines=len(later), unended=unended)


def _merge_night(into: History, other: History, night: Night, bring: Bring) -> int:
    """Merge one night, and return how many checks are new. States found without these checks are
    removed.
    """
    of_night = other.checks(night=night.id, curves=True)
    here = joined_in(into, night.id)
    if night.ended is None:
        # a night of another history is at rest: what it has is all there is
        ends = (check.started + check.seconds for check in of_night)
        night = replace(night, ended=max(ends, default=night.started))
    begun = here == night.id and into.begin_night(night)
    if begun and not night.shard:
        into.put_states(other.states(night=night.id))
    new = into.add_all(replace(bring(check, here), night=here) for check in of_night)
    if new and not begun:
        with into.writing() as connection:
            connection.execute(delete(states).where(states.c.night == here))
    return new


def joined_in(history: History, night: str) -> str:
    """Return the night that a shard was joined to; the shard's own name if it was not joined."""
    with history.reading() as connection:
        found = connection.scalar(select(parts.c.night).where(parts.c.part == night))
    return found or night


def without_states(history: History, night: Night) -> bool:
    """Return whether a target of a night has no state, as all targets of a newly joined night."""
    return not {state.target for state in history.states(night=night.id)} >= set(night.targets)


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined:
    """Hold a night that shards were joined to, and which shards the night holds now."""

    night: str
    share: Share


def join(history: History) -> tuple[Joined, ...]:
    """Join the shards of the history that have ended. Returns the nights that changed; their states
    are removed.
    """
    with history.writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK})
        ended = [night for night in history.nights() if night.ended is not None]
        return tuple(_join(connection, group) for group in _groups(ended) if len(group) > 1)


def _groups(found: Sequence[Night]) -> Iterator[list[Night]]:
    """Yield shards that belong together, in the order of their start."""
    sharded = [night for night in found if share_of(night) is not None]
    sharded.sort(key=_suite)
    for _suite_of_all, alike in groupby(sharded, key=_suite):
        groups: list[list[Night]] = []
        for night in sorted(alike, key=lambda night: (night.started, night.id)):
            for group in groups:
                soon = night.started - group[0].started <= APART
                numbers = frozenset().union(*map(_numbers, group))
                if soon and not _numbers(night) & numbers:
                    group.append(night)
                    break
            else:
                groups.append([night])
        yield from groups


def _suite(night: Night) -> tuple[int, str, tuple[str, ...]]:
    """Return what shards of one night have in common."""
    share = share_of(night)
    assert share is not None, "only shards are grouped"
    return share.of, night.commit, night.targets


def _numbers(night: Night) -> frozenset[int]:
    share = share_of(night)
    return share.numbers if share else frozenset()


def _join(connection: Connection, group: Sequence[Night]) -> Joined:
    """Move all that belongs to the nights of a group to the first of them."""
    first, *others = sorted(group, key=lambda night: night.id)
    share = Share(frozenset().union(*map(_numbers, group)), _suite(first)[0])
    chosen = {name for night in group for name in night.selected}
    selected = tuple(name for name in first.targets if name in chosen)
    retention.names(connection, [selected])
    connection.execute(
        update(nights)
        .where(nights.c.id == first.id)
        .values(
            shard=share.words,
            selected=rows.digest_of_names(selected),
            started=min(night.started for night in group),
            ended=max(night.ended or 0.0 for night in group),
        )
    )
    connection.execute(delete(states).where(states.c.night.in_([night.id for night in group])))
    for night in others:
        _move(connection, night.id, first.id)
    return Joined(night=first.id, share=share)


def _move(connection: Connection, part: str, night: str) -> None:
    moved = connection.execute(select(checks).where(checks.c.night == part)).mappings().all()
    retention.put(connection, checks, [{**row, "night": night} for row in moved])
    connection.execute(delete(checks).where(checks.c.night == part))
    connection.execute(update(states).where(states.c.since == part).values(since=night))
    connection.execute(update(baselines).where(baselines.c.night == part).values(night=night))
    connection.execute(update(parts).where(parts.c.night == part).values(night=night))
    connection.execute(insert(parts).values(part=part, night=night))
    connection.execute(delete(nights).where(nights.c.id == part))
