"""A history as a thing that grows: what always stays in it, rows that may go, a copy, its state."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Delete,
    delete,
    func,
    select,
    tuple_,
    union,
)

from reprocheck.errors import UsageError
from reprocheck.suite.history.engine import file_of, parsed, shown
from reprocheck.suite.history.errors import HistoryError, error_of
from reprocheck.suite.history.store import History
from reprocheck.suite.history.tables import (
    baselines,
    checks,
    curves,
    facts,
    lists,
    nights,
    parts,
    states,
)

WAIT = 30.0
"""Seconds for which a locked file is waited for."""


def last_places(history: History) -> set[tuple[str, str]]:
    """Return night and target of the last check and of the last failure of each target."""
    with history.reading() as connection:
        return {(row.night, row.target) for row in connection.execute(_last_places())}


def last_keys(history: History) -> set[tuple[str, str]]:
    """Return each target with the digest of the environment key of its last check."""
    newest = select(func.max(checks.c.night), checks.c.target).group_by(checks.c.target)
    query = select(checks.c.target, checks.c.key).where(
        tuple_(checks.c.night, checks.c.target).in_(newest)
    )
    with history.reading() as connection:
        return {(row.target, row.key) for row in connection.execute(query)}


def _last_places() -> CompoundSelect[tuple[str, str]]:
    """Query the places that always stay. A check that is good fails a night by its drift."""
    last = select(func.max(checks.c.night).label("night"), checks.c.target)
    drift = select(func.max(states.c.night).label("night"), states.c.target)
    return union(
        last.group_by(checks.c.target),
        last.where(~checks.c.good).group_by(checks.c.target),
        drift.where(states.c.failed).group_by(states.c.target),
    )


def old_rows(history: History, keep: int) -> int:
    """Return how many checks are older than the last `keep` nights, and may go."""
    with history.reading() as connection:
        old = _old(checks.c, _first(connection, keep))
        return connection.scalar(select(func.count()).where(*old)) or 0


def remove_old_rows(history: History, keep: int) -> int:
    """Remove checks, states and nights before the last `keep` ones; return the number of checks.

    What nothing refers to then is removed, too. Places that always stay do.
    """

    def write(connection: Connection) -> int:
        first = _first(connection, keep)
        connection.execute(delete(states).where(*_old(states.c, first)))
        removed = connection.execute(delete(checks).where(*_old(checks.c, first))).rowcount
        for removal in _unused(first):
            connection.execute(removal)
        return removed

    return history.written(write)


def _first(connection: Connection, keep: int) -> str:
    """Return the first of the last `keep` nights; "" if there are no older ones."""
    query = select(nights.c.id).order_by(nights.c.id.desc()).offset(keep - 1).limit(1)
    return connection.scalar(query) or ""


def _old(columns: Any, first: str) -> tuple[ColumnElement[bool], ...]:
    """Return which rows are older than a night and no place that always stays."""
    stays = _last_places().subquery()
    place = tuple_(columns.night, columns.target)
    return columns.night < first, place.not_in(select(stays.c.night, stays.c.target))


def _unused(first: str) -> list[Delete]:
    """Return what removes the nights before a night, and the values, that no row refers to."""
    used_nights = union(select(checks.c.night), select(states.c.night))
    old = select(nights.c.id).where(nights.c.id < first, nights.c.id.not_in(used_nights))
    of_checks = union(select(checks.c.key), select(checks.c.beside))
    of_baselines = union(select(baselines.c.key), select(baselines.c.environment))
    used_curves = union(
        *(select(one.c.curves).where(one.c.curves.is_not(None)) for one in (checks, baselines))
    )
    used_lists = union(select(nights.c.targets), select(nights.c.selected))
    return [
        delete(parts).where(parts.c.night.in_(old)),
        delete(nights).where(nights.c.id.in_(old)),
        delete(facts).where(facts.c.digest.not_in(of_checks), facts.c.digest.not_in(of_baselines)),
        delete(curves).where(curves.c.digest.not_in(used_curves)),
        delete(lists).where(lists.c.digest.not_in(used_lists)),
    ]


def compact(address: str) -> None:
    """Give the room of removed rows back to the disk; PostgreSQL does it by itself."""
    if parsed(address).get_backend_name() == "sqlite":
        _tell(address, "VACUUM")


def backup(address: str, file: Path) -> None:
    """Copy a SQLite history into a new file, whole, also while a night is under way.

    Raises UsageError if the file exists, HistoryError if the history is none in SQLite, or cannot
    be read, or the file cannot be written.
    """
    if parsed(address).get_backend_name() != "sqlite":
        raise HistoryError(
            f"The history at {shown(address)} is no file.",
            "pg_dump DATABASE > backup.sql copies it.",
        )
    if file.exists():
        raise UsageError(f"{file} is there already.", "Name another file.")
    partial = file.with_name(f".{file.name}.partial")
    try:
        partial.unlink(missing_ok=True)
        _tell(address, "VACUUM INTO ?", str(partial))
        partial.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.", "Name another.") from None


def damage(address: str) -> str:
    """Return what SQLite finds wrong with a file; "" if nothing, and of another database."""
    if parsed(address).get_backend_name() != "sqlite":
        return ""
    said = _tell(address, "PRAGMA quick_check(1)")
    return "" if said == "ok" else said


def _tell(address: str, statement: str, *arguments: str) -> str:
    """Run a statement outside of transactions, and return the first value that it gives."""
    try:
        with closing(sqlite3.connect(file_of(parsed(address)), timeout=WAIT)) as connection:
            row = connection.execute(statement, arguments).fetchone()
    except sqlite3.Error as error:
        raise error_of(error, shown(address)) from error
    return str(row[0]) if row else ""
