"""The tables of a history. Every night, check, state and baseline is a row.

What repeats from night to night is kept once, under a digest of what it is: facts of environments
(`facts`), curves of bits that are the same (`curves`), lists of names (`lists`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any

import msgspec
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    Table,
    Text as SqlText,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.types import TypeDecorator, TypeEngine

from reprocheck._version import __version__
from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.model import Difference, Suspect

REVISION = "0007"
"""Of the tables below: another one as soon as they change. A history of another one is refused."""


def cleaned(text: str) -> str:
    """Return a text that both databases accept.

    It is without NUL (for PostgreSQL) and without lone surrogates, which stand for undecodable
    bytes of file names.
    """
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


class Text(TypeDecorator[str]):
    """Store text that sorts by code point in both databases."""

    impl = SqlText
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Set the collation, because PostgreSQL would sort by the language of its server."""
        if dialect.name == "postgresql":
            return TEXT(collation="C")
        return dialect.type_descriptor(SqlText())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the text as it is stored or queried."""
        return None if value is None else cleaned(value)


class Json(TypeDecorator[Any]):
    """Store a value as ASCII JSON, which can hold any Python string.

    `decode` converts the parsed JSON back to the value; it raises ValueError if that fails.
    """

    impl = SqlText
    cache_ok = True

    def __init__(self, decode: Callable[[Any], Any]) -> None:
        super().__init__()
        self.decode = decode
        # most rows have one of a few texts: no changes, no drift, no suspect
        self._decoded = lru_cache(maxsize=1_000)(lambda text: decode(json.loads(text)))

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        """Return the value as it is stored: JSON text."""
        return json.dumps(value, default=asdict)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Return the value decoded from stored JSON text."""
        return None if value is None else self._decoded(value)


# A later version may write more of a Difference: what is not known is left out.
_names = partial(msgspec.convert, type=tuple[str, ...])
_facts = partial(msgspec.convert, type=dict[str, str])
_pairs = partial(msgspec.convert, type=dict[str, tuple[str, str]])
_measures = partial(msgspec.convert, type=dict[str, float])
differences = partial(msgspec.convert, type=tuple[Difference, ...])
_suspect = partial(msgspec.convert, type=Suspect)


metadata = MetaData()

revisions = Table(
    "revisions",
    metadata,
    Column("revision", Text, primary_key=True),
    Column("reprocheck_version", Text, nullable=False),
    Column("made", Double, nullable=False),
)
"""Which version of reprocheck made these tables, and when."""

facts = Table(
    "facts",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("facts", Json(_facts), nullable=False),
)
"""Facts of environments: of keys, and those beside them."""

curves = Table(
    "curves",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("packed", LargeBinary, nullable=False),
)

lists = Table(
    "lists",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("names", Json(_names), nullable=False),
)
"""Names of targets, as nights have them."""

nights = Table(
    "nights",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started", Double, nullable=False),
    Column("ended", Double),
    Column("targets", Text, ForeignKey("lists.digest"), nullable=False),
    Column("selected", Text, ForeignKey("lists.digest"), nullable=False),
    Column("shard", Text, nullable=False),
    Column("commit", Text, nullable=False),
    Column("executor", Text, nullable=False),
    Column("reprocheck_version", Text, nullable=False),
)

parts = Table(
    "parts",
    metadata,
    Column("part", Text, primary_key=True),
    Column("night", Text, ForeignKey("nights.id"), nullable=False),
)
"""The nights that were shards: each with the night in which it is joined now."""

checks = Table(
    "checks",
    metadata,
    Column("night", Text, ForeignKey("nights.id"), primary_key=True),
    Column("target", Text, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("started", Double, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("failed_check", Text, nullable=False),
    Column("exit_code", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("reason_to_paste", Text, nullable=False, server_default=""),
    Column("good", Boolean, nullable=False),
    Column("bitwise", Boolean),
    Column("first_bitwise", Integer),
    Column("first_divergence", Integer),
    Column("rung", Text, nullable=False),
    Column("place", Text, nullable=False),
    Column("causes", Json(_names), nullable=False),
    Column("source", Text, nullable=False, server_default=""),
    Column("key", Text, ForeignKey("facts.digest"), nullable=False),
    Column("beside", Text, ForeignKey("facts.digest"), nullable=False),
    Column("commit", Text, nullable=False),
    Column("files", Text, nullable=False, server_default=""),
    Column("rtol", Double, nullable=False),
    Column("atol", Double, nullable=False),
    Column("folder", Text, nullable=False),
    Column("curves", Text, ForeignKey("curves.digest")),
    Column("measures", Json(_measures), nullable=False, server_default="{}"),
    Index("checks_of_target", "target", "night", "attempt"),
    sqlite_with_rowid=False,
)

states = Table(
    "states",
    metadata,
    Column("night", Text, ForeignKey("nights.id"), primary_key=True),
    Column("target", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("since", Text, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("sentence_to_paste", Text, nullable=False, server_default=""),
    Column("changed", Json(_pairs), nullable=False),
    Column("drift", Json(differences), nullable=False),
    Column("operation", Text, nullable=False),
    Column("suspect", Json(_suspect), nullable=False),
    Index("states_of_target", "target", "night"),
    sqlite_with_rowid=False,
)

baselines = Table(
    "baselines",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("target", Text, nullable=False),
    Column("key", Text, ForeignKey("facts.digest"), nullable=False),
    Column("curves", Text, ForeignKey("curves.digest")),
    Column("why", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("when", Double, nullable=False),
    Column("bitwise", Boolean, nullable=False),
    Column("night", Text, nullable=False),
    Column("commit", Text, nullable=False),
    Column("environment", Text, ForeignKey("facts.digest"), nullable=False),
    Column("replaced", Json(differences), nullable=False),
    Column("recording", Text, nullable=False),
    Index("baselines_of_target", "target", "key", "number"),
)
"""The last row of a target and key is the baseline that counts."""


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
