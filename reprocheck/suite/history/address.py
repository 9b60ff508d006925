"""The URL of a history: which databases are known, and how a URL is shown without its secrets."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from reprocheck.suite.history.errors import HistoryError

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
_SECRETS = (
    (re.compile(r"(//[^/@]*?:)[^@]*@"), r"\1***@"),
    (re.compile(r"((?:password|passfile|sslpassword)=)[^&]*", re.IGNORECASE), r"\1***"),
)


def shown(url: str) -> str:
    """A URL, right or wrong, without its passwords."""
    for secret, mask in _SECRETS:
        url = secret.sub(mask, url)
    return url


def parsed(url: str) -> URL:
    """The URL of a history with the driver that is used; HistoryError where it is none."""
    try:
        read = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise HistoryError(f"{shown(url)!r} is no URL of a database.", KNOWN) from error
    driver = DRIVERS.get(read.drivername)
    if driver is None:
        raise HistoryError(
            f"The history at {shown(url)} is of a kind that is not known: {read.drivername}.", KNOWN
        )
    if driver == POSTGRESQL and find_spec("psycopg") is None:
        raise HistoryError(
            f"The history at {shown(url)} needs psycopg, which is not installed.",
            'pip install "reprocheck[postgresql]"',
        )
    if driver == "sqlite" and read.database in (None, "", ":memory:"):
        raise HistoryError(f"The history at {shown(url)} names no file.", KNOWN)
    return read.set(drivername=driver)


def url_of_file(path: Path) -> str:
    """The URL of a SQLite file."""
    return f"sqlite:///{path.absolute()}"
