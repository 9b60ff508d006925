"""The URL of a history and a connection to it: what SQLite and PostgreSQL are told."""

from __future__ import annotations

import re
import sqlite3
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
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
    """Raise HistoryError if a table of the history could run foreign SQL.

    Reading or writing it would, if it is a view or virtual table, or has a trigger or a generated
    column.
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


POSTGRESQL = "postgresql+psycopg"
DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": POSTGRESQL,
    "postgresql": POSTGRESQL,
    POSTGRESQL: POSTGRESQL,
}
"""How people write what stands before `://`, and what it means here."""
KNOWN = (
    "A history is sqlite:////folder/history.sqlite (four slashes before an absolute path)"
    " or postgresql://user:password@host/database."
)
SECRET_WORDS = ("password", "sslpassword")
"""Keys behind the `?` of a URL whose values are not shown."""


def shown(url: str) -> str:
    """Return a URL with its passwords masked, even if the URL is invalid."""
    try:
        read = make_url(url)
    except (ArgumentError, ValueError):
        return _masked(url)
    if _cut_short(read):
        return _masked(url)
    hidden = {word: "***" for word in SECRET_WORDS if word in read.query}
    return read.update_query_dict(hidden).render_as_string(hide_password=True)


def parsed(url: str) -> URL:
    """Return the URL of a history with the database driver to use.

    Raises HistoryError if it is invalid.
    """
    kind, _, rest = url.partition("://")
    driver = DRIVERS.get(kind)
    if driver is None or not rest:
        raise _no_history(url)
    if driver == "sqlite":
        return _file(url)
    try:
        read = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise _no_history(url) from error
    if _cut_short(read):
        raise HistoryError(
            f"The URL of the history, {shown(url)!r}, has an @ in its password.",
            "Write %40 for it, and %25 for a %.",
        )
    if find_spec("psycopg") is None:
        raise HistoryError(
            f"The history at {shown(url)} needs psycopg, which is not installed.",
            'pip install "reprocheck[postgresql]"',
        )
    return read.set(drivername=driver)


def _cut_short(read: URL) -> bool:
    """Return whether the parser ended the password at an @ that belongs to it."""
    return "@" in (read.host or "")


def _masked(url: str) -> str:
    """Return an unparsable URL without everything that may be a password."""
    return re.sub(":.*@", ":***@", url, flags=re.DOTALL)


def _file(url: str) -> URL:
    """Return the URL of a SQLite file.

    The text after `sqlite:///` is a path, whatever characters it has.
    """
    _, _, path = url.partition("://")
    if not path.startswith("/") or path in ("/", "/:memory:"):
        raise HistoryError(f"The history at {url} names no file.", KNOWN)
    return URL.create("sqlite", database=path.removeprefix("/"))


def _no_history(url: str) -> HistoryError:
    if "$" in url:
        return HistoryError(
            f"The URL of the history is {shown(url)!r}, and that environment variable is not set.",
            f"Set it. {KNOWN}",
        )
    kind, between, _ = url.partition("://")
    unknown = between and kind not in DRIVERS
    meant = get_close_matches(kind, DRIVERS, n=1) if unknown else []
    question = f"Did you mean {meant[0]}://? " if meant else ""
    return HistoryError(f"{shown(url)!r} is no URL of a history.", f"{question}{KNOWN}")


def url_of_file(path: Path) -> str:
    """Return the URL of a SQLite file."""
    return f"sqlite:///{path.absolute()}"
