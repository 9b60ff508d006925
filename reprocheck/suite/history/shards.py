"""The shards of a night as one night, with the report folders of their checks."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path, PurePath
from stat import S_ISDIR, S_ISREG

from sqlalchemy import Connection, delete, insert, select, text, update

from reprocheck.errors import ReportError
from reprocheck.suite.history import open_history, rows
from reprocheck.suite.history.engine import url_of_file
from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.history.rows import is_inside
from reprocheck.suite.history.store import History
from reprocheck.suite.history.tables import baselines, checks, nights, parts, states
from reprocheck.suite.model import Night, TargetCheck, TargetState
from reprocheck.suite.surface import draw_again

NIGHTS = "nights"
KEPT = "kept"
PARTIAL = ".partial-"
"""Before the name of what is being copied: it has its name when it is whole."""
Bring = Callable[[TargetCheck, str], TargetCheck]


def bringing(source: Path, here: Path) -> Bring:
    """Return a function that copies the report folder of a check from one suite folder to another.

    The returned function takes a check and the night that it belongs to here, and returns the check
    with its folder here: "" if it is in neither place.
    """

    def bring(check: TargetCheck, night: str) -> TargetCheck:
        if not check.folder or not is_inside(check.folder):
            return replace(check, folder="")
        place = PurePath(check.folder)
        of_target = place.parent
        # the deeper recording and its comparison lie beside the attempts
        beside = (
            source.joinpath(of_target).glob("*") if of_target.parent.name == check.night else ()
        )
        for one in (place, *(of_target / path.name for path in beside)):
            there = here / in_night(one.as_posix(), check.night, night)
            if _copy(source, one, there):
                draw_again(there)
        folder = in_night(check.folder, check.night, night)
        return replace(check, folder=folder if (here / folder).exists() else "")

    return bring


def in_night(folder: str, part: str, night: str) -> str:
    """Return the path of a shard's report folder after the shard is joined to a night."""
    mine = f"{NIGHTS}/{part}/"
    if not folder.startswith(mine):
        return folder
    return f"{NIGHTS}/{night}/{folder.removeprefix(mine)}"


def bring_kept(source: Path, here: Path) -> None:
    """Copy the kept deeper recordings of another suite folder that this one lacks."""
    for file in sorted((source / KEPT).glob("*/*")):
        place = file.relative_to(source)
        _copy(source, place, here / place)


def _copy(source: Path, place: PurePath, here: Path) -> bool:
    """Copy a file or folder of another suite atomically, unless it exists here.

    Returns whether it was copied.

    Links are left out: they would bring files of this machine into what is shown to others.
    """
    there = source / place
    if here.exists() or not there.exists() or there.resolve() != source.resolve() / place:
        return False
    partial = here.with_name(f"{PARTIAL}{here.name}")
    try:
        here.parent.mkdir(parents=True, exist_ok=True)
        if there.is_dir():
            shutil.copytree(there, partial, ignore=_links, dirs_exist_ok=True)
        else:
            shutil.copy2(there, partial)
        partial.replace(here)
    except OSError as error:
        raise HistoryError(
            f"{there} cannot be copied to {here}: {error}.",
            "Run the same merge again once that is mended: it goes on where it stopped.",
        ) from error
    return True


def _links(folder: str, names: list[str]) -> list[str]:
    """Return the names in a folder that are links, pipes, sockets or devices."""
    modes = {name: Path(folder, name).lstat().st_mode for name in names}
    return [name for name, mode in modes.items() if not (S_ISREG(mode) or S_ISDIR(mode))]


def settle(history: History, here: Path) -> None:
    """Move the report folders of joined shards to the folder of their night."""
    with history.reading() as connection:
        joined = connection.execute(select(parts)).all()
    for part, night in joined:
        for check in history.checks(night=night):
            folder = in_night(check.folder, part, night)
            if folder == check.folder or not is_inside(folder):
                continue
            before, after = here / check.folder, here / folder
            for path in (before, *before.parent.glob("*")):
                _move_folder(path, after.parent / path.name)
            place = (
                checks.c.night == check.night,
                checks.c.target == check.target,
                checks.c.attempt == check.attempt,
            )
            with history.writing() as connection:
                connection.execute(update(checks).where(*place).values(folder=folder))


def _move_folder(before: Path, after: Path) -> None:
    if before.exists() and not after.exists():
        after.parent.mkdir(parents=True, exist_ok=True)
        before.rename(after)
    for parent in (before.parent, before.parent.parent):
        if parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()


@contextmanager
def copied(file: Path) -> Iterator[Path]:
    """Yield a copy of a SQLite file, including its latest writes (from the write-ahead log)."""
    with tempfile.TemporaryDirectory(prefix="reprocheck-merge-") as folder:
        copy = Path(folder) / file.name
        try:
            shutil.copyfile(file, copy)
            journal = file.with_name(f"{file.name}-wal")
            if journal.exists():
                shutil.copyfile(journal, copy.with_name(f"{copy.name}-wal"))
        except OSError as error:
            raise ReportError(
                f"{file} cannot be read: {error.strerror}.", "Copy it anew."
            ) from None
        yield copy


@contextmanager
def shared_history(file: Path | None, history: History) -> Iterator[History | None]:
    """Yield the history that every shard of a night sees.

    It is `history`, or a copy of the suite's own file where that is another one; None if there is
    no such file.
    """
    if file is None:
        yield history
    elif not file.is_file():
        yield None
    else:
        with copied(file) as copy, open_history(url_of_file(copy), create=False) as suite:
            yield suite


def take_baselines(into: History, suite: History) -> None:
    """Give a shard the baselines of its suite in place of its own."""
    of_suite = suite.recorded_baselines()
    if of_suite == into.recorded_baselines():
        return
    with into.writing() as connection:
        connection.execute(delete(baselines))
    into.record_baselines(*reversed(of_suite))


APART = 12 * 3600
"""Seconds between the starts of two shards of one night, at most."""
LOCK = 0x73686172
"""The number of the lock that a join takes in PostgreSQL."""
_PART = r"\d{1,4}(?:-\d{1,4})?"
_NUMBERS = rf"(?P<numbers>{_PART}(?:,{_PART}){{0,2000}})"
_SHARD = re.compile(rf"{_NUMBERS}/(?P<of>\d{{1,4}})(?P<cut>@[0-9a-f]{{8}})?")


@dataclass(frozen=True, slots=True)
class Share:
    """Say which shards a night holds: `numbers`, out of 1 to `of`.

    cut  the digest of which targets each shard has, `@1f3c9a0b`; "" if their names alone decide
    """

    numbers: frozenset[int]
    of: int
    cut: str = ""

    @property
    def missing(self) -> tuple[int, ...]:
        """Return the numbers of the shards that the night lacks."""
        return tuple(sorted(set(range(1, self.of + 1)) - self.numbers))

    @property
    def words(self) -> str:
        """Format the shards that the night holds: `1-3,5/8`; "" if none is missing."""
        if not self.missing:
            return ""
        return f"{ranges(self.numbers)}/{self.of}{self.cut}"


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
    return Share(frozenset(numbers), of, found["cut"] or "")


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
    """Record the nights, checks, states and baselines of another history.

    Repeating changes nothing.

    Of the states of a shard only those with a first differing operation are taken, for that alone,
    because a shard knows no history. `bring` copies the report folder of a check, as `bringing`
    says.
    """
    nights_there = other.nights()
    new = {night.id: _merge_night(into, other, night, bring) for night in nights_there}
    # what was accepted there after the newest baseline of the same target and key here
    here = {
        (baseline.target, baseline.key.digest): baseline.when
        for baseline in reversed(into.recorded_baselines())
    }
    later = [
        baseline
        for baseline in reversed(other.baselines())
        if baseline.when > here.get((baseline.target, baseline.key.digest), float("-inf"))
    ]
    into.record_baselines(*later)
    unended = tuple(night for night in nights_there if night.ended is None)
    return Merged(nights=new, baselines=len(later), unended=unended)


def _merge_night(into: History, other: History, night: Night, bring: Bring) -> int:
    """Merge one night, and return how many checks are new.

    States found without these checks are removed, but for those with an operation.
    """
    of_night = other.checks(night=night.id, curves=True)
    here = joined_in(into, night.id)
    if night.ended is None:
        # a night of another history is at rest: what it has is all there is
        ends = (check.started + check.seconds for check in of_night)
        night = replace(night, ended=max(ends, default=night.started))
    begun = here == night.id and into.begin_night(night)
    found = other.states(night=night.id)
    if begun and not night.shard:
        into.put_states(found)
    new = into.add_all(replace(bring(check, here), night=here) for check in of_night)
    if new and not begun:
        with into.writing() as connection:
            connection.execute(delete(states).where(states.c.night == here, _NO_OPERATION))
    if new and night.shard:
        into.put_states(replace(state, night=here) for state in found if state.operation)
    return new


_NO_OPERATION = states.c.operation == ""


def with_operations_of(
    before: Iterable[TargetState], found: Iterable[TargetState]
) -> tuple[TargetState, ...]:
    """Return states that were found anew, with the operations that shards had found.

    An operation is the first one that differs.
    """
    known = {state.target: state for state in before if state.operation}
    made = []
    for state in found:
        shard = known.get(state.target)
        if shard is not None and state.failed:
            _, _, of_night = shard.suspect.report.partition("/")
            _, _, place = of_night.partition("/")
            report = f"{NIGHTS}/{state.night}/{place}" if place else ""
            suspect = replace(shard.suspect, report=report)
            state = replace(state, operation=shard.operation, suspect=suspect)
        made.append(state)
    return tuple(made)


def joined_in(history: History, night: str) -> str:
    """Return the night that a shard was joined to; the shard's own name if it was not joined."""
    with history.reading() as connection:
        found = connection.scalar(select(parts.c.night).where(parts.c.part == night))
    return found or night


def of_shards(history: History) -> frozenset[str]:
    """Return the nights that are shards, or were joined from shards."""
    with history.reading() as connection:
        joined = set(connection.scalars(select(parts.c.night)))
    return frozenset(joined | {night.id for night in history.nights() if night.shard})


def without_states(history: History, night: Night) -> bool:
    """Return whether a selected target of a night has no state, as all of a newly joined night."""
    return not {state.target for state in history.states(night=night.id)} >= set(night.selected)


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined:
    """Hold a night that shards were joined to, and which shards the night holds now."""

    night: str
    share: Share


def join(history: History) -> tuple[Joined, ...]:
    """Join the shards of the history that have ended.

    Returns the nights that changed; their states are removed, but for those with an operation.
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


def first_of(history: History, night: Night) -> Night:
    """Return the first shard of the night that a new shard belongs to.

    It is the new shard itself if no other one has begun.
    """
    others = [one for one in history.nights() if share_of(one) is not None]
    alike = [
        one
        for one in others
        if _suite(one)[1:] == _suite(night)[1:]
        and night.started - one.started <= APART
        and not _numbers(one) & _numbers(night)
    ]
    return min(alike, default=night, key=lambda one: one.id)


def _suite(night: Night) -> tuple[str, int, str, tuple[str, ...]]:
    """Return what shards of one night have in common."""
    share = share_of(night)
    assert share is not None, "only shards are grouped"
    return share.cut, share.of, night.commit, night.targets


def _numbers(night: Night) -> frozenset[int]:
    share = share_of(night)
    return share.numbers if share else frozenset()


def _join(connection: Connection, group: Sequence[Night]) -> Joined:
    """Move all that belongs to the nights of a group to the first of them."""
    first, *others = sorted(group, key=lambda night: night.id)
    cut, of, *_ = _suite(first)
    share = Share(frozenset().union(*map(_numbers, group)), of, cut)
    chosen = {name for night in group for name in night.selected}
    selected = tuple(name for name in first.targets if name in chosen)
    rows.names(connection, [selected])
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
    of_group = states.c.night.in_([night.id for night in group])
    connection.execute(delete(states).where(of_group, _NO_OPERATION))
    for night in others:
        _move(connection, night.id, first.id)
    return Joined(night=first.id, share=share)


def _move(connection: Connection, part: str, night: str) -> None:
    moved = connection.execute(select(checks).where(checks.c.night == part)).mappings().all()
    rows.put(connection, checks, [{**row, "night": night} for row in moved])
    connection.execute(delete(checks).where(checks.c.night == part))
    moved = connection.execute(select(states).where(states.c.night == part)).mappings().all()
    rows.put(connection, states, [{**row, "night": night} for row in moved])
    connection.execute(delete(states).where(states.c.night == part))
    connection.execute(update(states).where(states.c.since == part).values(since=night))
    connection.execute(update(baselines).where(baselines.c.night == part).values(night=night))
    connection.execute(update(parts).where(parts.c.night == part).values(night=night))
    connection.execute(insert(parts).values(part=part, night=night))
    connection.execute(delete(nights).where(nights.c.id == part))
