"""What is kept of every check: one database for all nights, SQLite or PostgreSQL.

errors       what can go wrong with a history, as errors for people
engine       its URL, and a connection to it: what SQLite and PostgreSQL are told
tables       the tables
rows         the data of a suite as rows, and back
overview     every target in every one of the last nights
store        the history itself: what is written and asked
look_back    what a night asks of those before it, for all targets at once
by_target    rows of which those of one target are in memory at a time
timeline     one target, night by night
export       files for other programs
shards       the shards of a night as one night, and one history in another
maintenance  what always stays in it, rows that may go, a copy, damage
artifact     the history that another machine has left
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from reprocheck.suite.history.errors import HistoryError

if TYPE_CHECKING:
    from pathlib import Path

    from reprocheck.suite.history.store import History
    from reprocheck.suite.targets import Suite

__all__ = ["History", "HistoryError", "open_history", "open_suite"]

WAIT = 30.0
"""Seconds for which a database that another process has locked, or that is gone, is waited for."""


def open_history(
    url: str, *, create: bool = True, wait: float = WAIT, baselines: Path | None = None
) -> History:
    """Return the history at a URL, a context manager; its tables are made where there are none.

    url     `sqlite:////folder/history.sqlite`, or `postgresql://user:password@host/database`
    create  False: a history that is not there yet is an error
    wait    seconds for which a locked or lost database is waited for
    baselines  the file of the baselines that count; None: those that the history records count

    Raises HistoryError, which says what to do.
    """
    _refuse_without_libraries()
    from reprocheck.suite.history.store import opened

    return opened(url, create=create, wait=wait, baselines=baselines)


def open_suite(suite: Suite, *, create: bool = True) -> History:
    """Return the history of a suite, with the baselines that count in it. Raises HistoryError."""
    return open_history(suite.history, create=create, baselines=suite.baselines)


def __getattr__(name: str) -> object:
    if name != "History":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _refuse_without_libraries()
    from reprocheck.suite.history.store import History

    return History


def _refuse_without_libraries() -> None:
    if find_spec("sqlalchemy") is None:
        raise HistoryError(
            "The history needs SQLAlchemy, which is not installed.",
            'pip install "reprocheck[suite]"',
        )
