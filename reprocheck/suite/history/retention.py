"""Rows that are added where they are not there yet, in the transaction of a connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from reprocheck.suite.history import rows, tables
from reprocheck.suite.model import Night


def _insert(connection: Connection, into: Table) -> sqlite.Insert | postgresql.Insert:
    if connection.dialect.name == "sqlite":
        return sqlite.insert(into)
    return postgresql.insert(into)


def put(connection: Connection, into: Table, several: Iterable[rows.Row]) -> int:
    """Insert rows that are not in the table yet, and return how many were new."""
    found = list(several)
    if not found:
        return 0
    first = next(iter(into.primary_key))
    statement = _insert(connection, into).on_conflict_do_nothing().returning(first)
    return len(connection.execute(statement, found).all())


def replace(connection: Connection, into: Table, several: Iterable[rows.Row]) -> None:
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
    """Record a night; return False, and leave the recorded night unchanged, if it was recorded
    before.
    """
    names(connection, (one.targets, one.selected))
    return put(connection, tables.nights, [rows.row_of_night(one)]) == 1


def facts(connection: Connection, several: Iterable[Mapping[str, str]]) -> None:
    """Insert sets of environment facts that are not in the table yet, by digest."""
    found = {rows.digest_of_facts(one): dict(one) for one in several}
    _keep(connection, tables.facts, "facts", found)


def names(connection: Connection, several: Iterable[tuple[str, ...]]) -> None:
    """Insert lists of target names that are not in the table yet, by digest."""
    _keep(connection, tables.lists, "names", {rows.digest_of_names(one): one for one in several})


def curves(connection: Connection, several: Iterable[bytes]) -> None:
    """Insert packed curves that are not in the table yet, by digest."""
    found = {rows.digest_of_curves(one): one for one in several if one}
    _keep(connection, tables.curves, "packed", found)


def _keep(connection: Connection, into: Table, name: str, found: Mapping[str, object]) -> None:
    """Insert values under their digests, sorted by digest so that no two PostgreSQL writers
    deadlock.
    """
    put(connection, into, ({"digest": one, name: found[one]} for one in sorted(found)))
