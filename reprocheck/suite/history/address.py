"""The URL of a history: which databases are known, and how a URL is shown without its secrets."""

from __future__ import annotations

import re
from difflib import get_close_matches
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
    """Return the URL of a history with the database driver to use. Raises HistoryError if it is
    invalid.
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
    """Return the URL of a SQLite file: the text after `sqlite:///` is a path, whatever characters
    it has.
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
