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
    """Add rows, and say how many were not there."""
    found = list(several)
    if not found:
        return 0
    first = next(iter(into.primary_key))
    statement = _insert(connection, into).on_conflict_do_nothing().returning(first)
    return len(connection.execute(statement, found).all())


def replace(connection: Connection, into: Table, several: Iterable[rows.Row]) -> None:
    """Add rows, in the place of those with the same primary key."""
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
    """Keep a night; False where it was there: that one stays as it is."""
    names(connection, (one.targets, one.selected))
    return put(connection, tables.nights, [rows.row_of_night(one)]) == 1


def facts(connection: Connection, several: Iterable[Mapping[str, str]]) -> None:
    """Keep facts of environments."""
    found = {rows.digest_of_facts(one): dict(one) for one in several}
    _keep(connection, tables.facts, "facts", found)


def names(connection: Connection, several: Iterable[tuple[str, ...]]) -> None:
    """Keep lists of targets."""
    _keep(connection, tables.lists, "names", {rows.digest_of_names(one): one for one in several})


def curves(connection: Connection, several: Iterable[bytes]) -> None:
    """Keep packed curves."""
    found = {rows.digest_of_curves(one): one for one in several if one}
    _keep(connection, tables.curves, "packed", found)


def _keep(connection: Connection, into: Table, name: str, found: Mapping[str, object]) -> None:
    """Add what stands under digests: in their order, so that no two writers in PostgreSQL wait for
    each other.
    """
    put(connection, into, ({"digest": one, name: found[one]} for one in sorted(found)))
