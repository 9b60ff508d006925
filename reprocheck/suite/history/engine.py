"""A connection to a history: what SQLite and PostgreSQL are told.

SQLite: every transaction opens the file anew, so that one that was removed or replaced is noticed
and nothing is written to a file that no one can reach any more.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.history.tables import metadata

CONNECT = 10
"""Seconds in which a PostgreSQL server must take a connection."""
WRITES = {"reprocheck_begin": "BEGIN IMMEDIATE"}
"""Options of a connection that writes: SQLite takes its lock at once. A transaction that reads
first and writes later would fail, without waiting, where another one wrote in between.
"""


def engine_of(url: URL, *, wait: float) -> Engine:
    """Return the SQLAlchemy engine of a history. `wait`: seconds to wait for a database lock."""
    if url.get_backend_name() == "sqlite":
        return _sqlite(url, wait)
    return _postgresql(url, wait)


def file_of(url: URL) -> Path:
    """Return the file of a SQLite history."""
    assert url.database, "the URL of a SQLite history names a file"
    return Path(url.database).absolute()


def refuse_programs(connection: sqlite3.Connection, where: str) -> None:
    """Raise HistoryError if a table of the history is a view or virtual table, or has a trigger or
    a generated column, because reading or writing it would run foreign SQL.
    """
    for table, kind, name in connection.execute(_PROGRAMS):
        if table in metadata.tables:
            raise HistoryError(
                f"The history at {where} holds a {kind} {name!r:.100}, which reprocheck did not"
                " make.",
                "Do not use it, or ask whoever made it for another one.",
            )


_PROGRAMS = """
SELECT tbl_name, CASE WHEN type = 'table' THEN 'virtual table' ELSE type END, name
FROM sqlite_master
WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'
UNION ALL
SELECT one.name, 'generated column', its.name
FROM sqlite_master AS one, pragma_table_xinfo(one.name) AS its
WHERE one.type = 'table' AND its.hidden > 1
"""


def _sqlite(url: URL, wait: float) -> Engine:
    name = f"file:{quote(str(file_of(url)))}?mode=rw"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(name, uri=True, timeout=wait, isolation_level=None)
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may come from somebody else
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # written is on the disk, in WAL mode, too
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        how = connection.get_execution_options().get("reprocheck_begin", "BEGIN")
        connection.exec_driver_sql(how)

    return engine


def _postgresql(url: URL, wait: float) -> Engine:
    engine = create_engine(
        url,
        connect_args={"connect_timeout": CONNECT} if "connect_timeout" not in url.query else {},
        pool_pre_ping=True,
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(wait * 1000)}")
        connection.commit()

    return engine
