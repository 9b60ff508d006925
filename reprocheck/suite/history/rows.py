"""Convert the data of a suite to rows of the tables, and back.

What is kept under a digest is left out of a row: the row has the digest.

A history may come from somebody else, and a file of SQLite holds any value in any column: what is
read is looked at before it is believed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePosixPath
from typing import Annotated, Any, TypeVar

import msgspec
from sqlalchemy import Connection, Row as SqlRow, Table
from sqlalchemy.dialects import postgresql, sqlite

from reprocheck.suite.history import tables
from reprocheck.suite.model import Baseline, Key, Night, TargetCheck, TargetState

Row = dict[str, Any]
T = TypeVar("T")
EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.0
"""The years 1 and 9999, in seconds since 1970: what a date can say."""
Time = Annotated[float, msgspec.Meta(ge=EARLIEST, le=LATEST)]
_TIMES = ("started", "ended", "when", "seconds")
_NIGHTS = ("id", "night", "since")
"""Fields that name a night, which is a name of folders and pages, too."""
_NIGHT = re.compile(r"(?:[\w+-][\w.:+-]{0,199})?", re.ASCII)
_PLACES = ("folder", "recording")
"""Fields that name a place in the folder of the suite."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Hold the values that rows refer to by digest."""

    facts: Mapping[str, Mapping[str, str]]
    lists: Mapping[str, tuple[str, ...]]


def digest_of_facts(facts: Mapping[str, str]) -> str:
    """Return the digest of the facts of an environment key: 16 hexadecimal digits."""
    return Key(facts=facts).digest


def digest_of_names(names: Sequence[str]) -> str:
    """Return the digest of a list of target names: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(list(names)).encode()).hexdigest()[:32]


def digest_of_curves(packed: bytes) -> str:
    """Return the digest of packed curves: 64 hexadecimal digits."""
    return hashlib.sha256(packed).hexdigest()


def _curves(packed: bytes) -> str | None:
    return digest_of_curves(packed) if packed else None


def _plain(kind: type, *digested: str) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.name not in digested)


NIGHT = _plain(Night, "targets", "selected")
CHECK = _plain(TargetCheck, "key", "beside", "curves")
STATE = _plain(TargetState)
BASELINE = _plain(Baseline, "key", "curves", "environment")
"""The fields that stand in a row as they are."""


def _row(one: object, names: tuple[str, ...]) -> Row:
    return {name: getattr(one, name) for name in names}


def as_data(kind: type[T], found: Row) -> T:
    """Convert a row to a `kind`. Raises ValueError if no history can have written the row."""
    made = msgspec.convert(found | {name: "" for name in _PLACES if _leads_away(found, name)}, kind)
    for name in _TIMES:
        time = found.get(name)
        if time is not None and not EARLIEST <= time <= LATEST:
            raise ValueError(f"{name} is {time}, which is no time")
    refuse_other_nights(found.get(name, "") for name in _NIGHTS)
    return made


def refuse_other_nights(names: Iterable[str]) -> None:
    """Raise ValueError if one of the names is no valid name of a night.

    The names are used in paths.
    """
    for name in names:
        if _NIGHT.fullmatch(name) is None:
            raise ValueError(f"{name!r:.100} is the name of no night")


def _leads_away(found: Row, name: str) -> bool:
    """Return whether a place is outside of the folder of the suite: it is as good as gone."""
    place = found.get(name)
    return isinstance(place, str) and not is_inside(place)


def is_inside(place: str) -> bool:
    """Return whether a path stays in the folder that it is relative to."""
    path = PurePosixPath(place)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in place


def row_of_night(night: Night) -> Row:
    """Return the row of a night."""
    return _row(night, NIGHT) | {
        "targets": digest_of_names(night.targets),
        "selected": digest_of_names(night.selected),
    }


def night_of(row: SqlRow[Any], shared: Shared) -> Night:
    """Return a night from its row."""
    lists = {"targets": shared.lists[row.targets], "selected": shared.lists[row.selected]}
    return as_data(Night, _row(row, NIGHT) | lists)


def row_of_check(check: TargetCheck) -> Row:
    """Return the row of a check."""
    return _row(check, CHECK) | {
        "key": check.key.digest,
        "beside": digest_of_facts(check.beside),
        "curves": _curves(check.curves),
    }


def check_of(row: SqlRow[Any], shared: Shared) -> TargetCheck:
    """Return a check from its row; `packed` of the row holds the curves, if they were queried."""
    kept = {
        "key": Key(facts=shared.facts[row.key]),
        "beside": shared.facts[row.beside],
        "curves": row._mapping.get("packed") or b"",
    }
    return as_data(TargetCheck, _row(row, CHECK) | kept)


def row_of_state(state: TargetState) -> Row:
    """Return the row of a state."""
    return _row(state, STATE)


def state_of(row: SqlRow[Any]) -> TargetState:
    """Return a state from its row."""
    return as_data(TargetState, _row(row, STATE))


def row_of_baseline(baseline: Baseline) -> Row:
    """Return the row of a baseline."""
    return _row(baseline, BASELINE) | {
        "key": baseline.key.digest,
        "environment": digest_of_facts(baseline.environment),
        "curves": _curves(baseline.curves),
    }


def baseline_of(row: SqlRow[Any], shared: Shared) -> Baseline:
    """Return a baseline from its row."""
    kept = {
        "key": Key(facts=shared.facts[row.key]),
        "environment": shared.facts[row.environment],
        "curves": row.packed or b"",
    }
    return as_data(Baseline, _row(row, BASELINE) | kept)


def _insert(connection: Connection, into: Table) -> sqlite.Insert | postgresql.Insert:
    if connection.dialect.name == "sqlite":
        return sqlite.insert(into)
    return postgresql.insert(into)


def put(connection: Connection, into: Table, several: Iterable[Row]) -> int:
    """Insert rows that are not in the table yet, and return how many were new."""
    found = list(several)
    if not found:
        return 0
    first = next(iter(into.primary_key))
    statement = _insert(connection, into).on_conflict_do_nothing().returning(first)
    return len(connection.execute(statement, found).all())


def replace(connection: Connection, into: Table, several: Iterable[Row]) -> None:
    """Insert rows, and replace existing rows that have the same primary key."""
    found = list(several)
    if not found:
        return
    statement = _insert(connection, into)
    changed = {
        column.name: statement.excluded[column.name]
        for column in into.columns
        if not column.primary_key
    }
    connection.execute(
        statement.on_conflict_do_update(index_elements=list(into.primary_key), set_=changed), found
    )


def night(connection: Connection, one: Night) -> bool:
    """Record a night; return False if it was recorded before.

    A night that was recorded before stays unchanged.
    """
    names(connection, (one.targets, one.selected))
    return put(connection, tables.nights, [row_of_night(one)]) == 1


def facts(connection: Connection, several: Iterable[Mapping[str, str]]) -> None:
    """Insert sets of environment facts that are not in the table yet, by digest."""
    found = {digest_of_facts(one): dict(one) for one in several}
    _keep(connection, tables.facts, "facts", found)


def names(connection: Connection, several: Iterable[tuple[str, ...]]) -> None:
    """Insert lists of target names that are not in the table yet, by digest."""
    _keep(connection, tables.lists, "names", {digest_of_names(one): one for one in several})


def curves(connection: Connection, several: Iterable[bytes]) -> None:
    """Insert packed curves that are not in the table yet, by digest."""
    found = {digest_of_curves(one): one for one in several if one}
    _keep(connection, tables.curves, "packed", found)


def _keep(connection: Connection, into: Table, name: str, found: Mapping[str, object]) -> None:
    """Insert values under their digests.

    They are sorted by digest so that no two PostgreSQL writers deadlock.
    """
    put(connection, into, ({"digest": one, name: found[one]} for one in sorted(found)))
