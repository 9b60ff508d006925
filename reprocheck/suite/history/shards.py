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
from reprocheck.suite.model import Night, TargetCheck

APART = 12 * 3600
"""Seconds between the starts of two shards of one night, at most."""
LOCK = 0x73686172
"""The number of the lock that a join takes in PostgreSQL."""
_PART = r"\d{1,4}(?:-\d{1,4})?"
_SHARD = re.compile(rf"(?P<numbers>{_PART}(?:,{_PART}){{0,2000}})/(?P<of>\d{{1,4}})")


@dataclass(frozen=True, slots=True)
class Share:
    """The shards that a night holds: `numbers` of 1 to `of`."""

    numbers: frozenset[int]
    of: int

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers of the shards that are not here."""
        return tuple(sorted(set(range(1, self.of + 1)) - self.numbers))

    @property
    def words(self) -> str:
        """`1-3,5/8`; "" where none is missing."""
        if not self.missing:
            return ""
        return f"{ranges(self.numbers)}/{self.of}"


def share_of(night: Night) -> Share | None:
    """Return what a night holds; None where it is whole."""
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
    """`1-3,5` of 1, 2, 3 and 5."""
    ordered = sorted(numbers)
    starts = [ordered[0], *(after for before, after in pairwise(ordered) if after != before + 1)]
    ends = [*(before for before, after in pairwise(ordered) if after != before + 1), ordered[-1]]
    return ",".join(
        str(start) if start == end else f"{start}-{end}"
        for start, end in zip(starts, ends, strict=True)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """What one history brought into another.

    nights     that were looked at, as they are called there, each with the number of its checks
               that were not recorded before
    baselines  that were not recorded before
    unended    nights that had not come to their end there
    """

    nights: Mapping[str, int]
    baselines: int
    unended: tuple[Night, ...]


def merge(into: History, other: History, bring: Bring) -> Merged:
    """Record the nights, check, states and baselines of another history. Again: changes nothing.

    A shard gets no states: what it says of the targets of other shards is not so.
    `bring` copies the report folder of a check, as `folders.bringing` says.
    """
    found = other.nights()
    return Merged(
        nights={night.id: _merge_night(into, other, night, bring) for night in found},
        baselines=_merge_baselines(into, other),
        unended=tuple(night for night in found if night.ended is None),
    )


def _merge_night(into: History, other: History, night: Night, bring: Bring) -> int:
    """Return how many checks are new. States that were found without them are removed."""
    of_night = other.checks(night=night.id, curves=True)
    here = joined_in(into, night.id)
    begun = here == night.id and into.begin_night(_ended(night, of_night))
    if begun and not night.shard:
        into.put_states(other.states(night=night.id))
    new = into.add_all(replace(bring(check, here), night=here) for check in of_night)
    if new and not begun:
        with into.writing() as connection:
            connection.execute(delete(states).where(states.c.night == here))
    return new


def joined_in(history: History, night: str) -> str:
    """Return the night in which a shard is joined; its own name where it is in none."""
    with history.reading() as connection:
        found = connection.scalar(select(parts.c.night).where(parts.c.part == night))
    return found or night


def without_states(history: History, night: Night) -> bool:
    """Return whether a target of a night has no state: of what was just joined, none has."""
    return not {state.target for state in history.states(night=night.id)} >= set(night.targets)


def _ended(night: Night, of_night: Sequence[TargetCheck]) -> Night:
    """Return a night of another history as ended: what it has is all there is."""
    if night.ended is not None:
        return night
    ends = (check.started + check.seconds for check in of_night)
    return replace(night, ended=max(ends, default=night.started))


def _merge_baselines(into: History, other: History) -> int:
    """Accept what was accepted there after the newest baseline of the same key here.

    Target and key are the same.
    """
    here = {(one.target, one.key.digest): one.when for one in reversed(into.baselines())}
    later = [
        one
        for one in reversed(other.baselines())
        if one.when > here.get((one.target, one.key.digest), float("-inf"))
    ]
    for one in later:
        into.accept(one)
    return len(later)


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined:
    """A night that shards were joined to, with the shards that it holds now."""

    night: str
    share: Share


def join(history: History) -> tuple[Joined, ...]:
    """Join the shards in a history that have ended. Returns the nights that changed, which have no
    states then.
    """
    with history.writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK})
        ended = [night for night in history.nights() if night.ended is not None]
        return tuple(_join(connection, group) for group in _groups(ended) if len(group) > 1)


def _groups(found: Sequence[Night]) -> Iterator[list[Night]]:
    """Shards that belong together, in the order of their start."""
    sharded = [night for night in found if share_of(night) is not None]
    sharded.sort(key=_suite)
    for _suite_of_all, alike in groupby(sharded, key=_suite):
        yield from _by_time(sorted(alike, key=lambda night: (night.started, night.id)))


def _suite(night: Night) -> tuple[int, str, tuple[str, ...]]:
    """Return what shards of one night have in common."""
    share = share_of(night)
    assert share is not None, "only shards are grouped"
    return share.of, night.commit, night.targets


def _by_time(alike: Sequence[Night]) -> list[list[Night]]:
    groups: list[list[Night]] = []
    for night in alike:
        group = next((group for group in groups if _belongs(night, group)), None)
        if group is None:
            groups.append([night])
        else:
            group.append(night)
    return groups


def _belongs(night: Night, group: Sequence[Night]) -> bool:
    """Return whether a night is another shard of the night of a group."""
    soon = night.started - group[0].started <= APART
    return soon and not _numbers(night) & frozenset().union(*map(_numbers, group))


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
