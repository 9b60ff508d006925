"""The tables of a history, made or brought up to date by the migrations in this package.

All migrations run in one transaction, behind a lock: one that is interrupted leaves what was there,
and of two processes that open a history for the first time, one makes the tables.
"""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import Connection, column, insert, inspect, select, table, text

from reprocheck._version import __version__
from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.history.tables import REVISION, metadata, revisions

VERSION_TABLE = "reprocheck_revision"
"""Alembic's own: a database may have another one of another program."""
LOCK = 0x72657072
"""The number of the lock that migrations take in PostgreSQL."""


def revision_of(connection: Connection) -> str | None:
    """The revision of the tables in a database; None where there are none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))


def migrate(connection: Connection, where: str) -> None:
    """Makes the tables, or brings them up to date, in the transaction of the connection.

    HistoryError where they are of a newer version or not ours. `where`: the URL for people.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK})
    found = revision_of(connection)
    if found == REVISION:
        return
    if found is None:
        _refuse_tables_of_others(connection, where)
    _refuse_newer(connection, found, where)
    _upgrade(connection)
    connection.execute(
        insert(revisions).values(
            revision=REVISION, reprocheck_version=__version__, made=time.time()
        )
    )


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    command.upgrade(config, REVISION)


def _refuse_tables_of_others(connection: Connection, where: str) -> None:
    there = set(inspect(connection).get_table_names()) & set(metadata.tables)
    if not there:
        return
    raise HistoryError(
        f"The database at {where} has tables named {', '.join(sorted(there))}, and no record that"
        " reprocheck made them.",
        "Give the history a database or a schema of its own. If these are a history, put back a"
        " copy that is whole.",
    )


def _refuse_newer(connection: Connection, found: str | None, where: str) -> None:
    if found is None or found < REVISION:
        return
    newest = select(revisions.c.reprocheck_version).order_by(revisions.c.made.desc()).limit(1)
    version = connection.scalar(newest) or "of a later version"
    raise HistoryError(
        f"The history at {where} was made by reprocheck {version} (tables {found}); this is"
        f" {__version__} (tables {REVISION}).",
        f'pip install "reprocheck[suite]>={version}", or name another history.',
    )
