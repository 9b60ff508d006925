"""The tables of a history, made where there are none.

They are made in one transaction, behind a lock: one that is interrupted leaves what was there, and
of two processes that open a history for the first time, one makes the tables.
"""

from __future__ import annotations

import time

from sqlalchemy import Connection, Row, insert, inspect, select, text

from reprocheck._version import __version__
from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.history.tables import REVISION, metadata, revisions

LOCK = 0x72657072
"""The number of the lock under which tables are made in PostgreSQL."""


def revision_of(connection: Connection) -> str | None:
    """Return the schema version of the tables in a database; None if it has no tables."""
    newest = _newest(connection)
    if newest is None:
        return None
    return str(newest.revision)


def make_tables(connection: Connection, where: str) -> None:
    """Make the tables, in the transaction of the connection.

    where  the URL of the history, as error messages show it

    Raises HistoryError if the database has tables of another version, or of another program.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK})
    newest = _newest(connection)
    if newest is None:
        there = set(inspect(connection).get_table_names()) & set(metadata.tables)
        if there:
            raise HistoryError(
                f"The database at {where} has tables named {', '.join(sorted(there))}, and no"
                " record that reprocheck made them.",
                "Give the history a database or a schema of its own. If these are a history, put"
                " back a copy that is whole.",
            )
        metadata.create_all(connection)
        row = {"revision": REVISION, "reprocheck_version": __version__, "made": time.time()}
        connection.execute(insert(revisions).values(row))
    elif newest.revision != REVISION:
        raise HistoryError(
            f"The history at {where} was made by reprocheck {newest.reprocheck_version} (tables"
            f" {newest.revision}); this is {__version__} (tables {REVISION}).",
            f'pip install "reprocheck[suite]=={newest.reprocheck_version}", or name another'
            " history.",
        )


def _newest(connection: Connection) -> Row[tuple[str, str, float]] | None:
    """Return the newest schema version recorded in the database; None if it has no tables."""
    if not inspect(connection).has_table(revisions.name):
        return None
    newest = select(revisions).order_by(revisions.c.made.desc()).limit(1)
    return connection.execute(newest).first()
