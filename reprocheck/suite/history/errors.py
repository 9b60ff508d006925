"""What can go wrong with a history: what a driver says becomes an error with what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace

from reprocheck.errors import UsageError


class HistoryError(UsageError):
    """Report that the history cannot be opened, read or written."""


class NoHistoryError(HistoryError):
    """Report that there is no history yet."""


class DamagedError(HistoryError):
    """Report that the file of the history is damaged, or no SQLite database."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Describe one kind of database failure.

    what    what happened, to stand after `The history at URL`
    fix     what the user should do
    passes  whether the failure may be over in a moment, so that the operation is tried again
    """

    what: str
    fix: str
    passes: bool = False


LOCKED = Fault(
    "stayed locked by another process",
    "Wait until the other process has ended, or end it; fuser FILE names those that have a"
    " SQLite file open. Then run this again: with --resume, suite run repeats no finished check.",
)
CROSSED = replace(LOCKED, passes=True)
"""Two transactions that waited for each other: one was rolled back, and can be made again."""
READ_ONLY = Fault(
    "may not be written",
    "Give this user the right to write the file and its folder, or the tables in PostgreSQL,"
    " or name another history in [tool.reprocheck.suite].",
)
FULL = Fault(
    "has no room left on its disk",
    "Free some space there, and run this again: with --resume, suite run repeats no finished"
    " check.",
)
RESTORE = (
    "Put back a copy of it, or make it anew from the folders of the nights: reprocheck suite"
    " history rebuild."
)
DAMAGED = Fault("is no readable database", RESTORE)
GONE = Fault(
    "is gone, or cannot be opened",
    "Check that it is still where the URL says and that this user may open it. Then run this"
    " again: with --resume, suite run repeats no finished check.",
)
UNREACHABLE = Fault(
    "does not answer",
    "Check host, port, user and database of the URL, and that the server runs. Then run this"
    " again: with --resume, suite run repeats no finished check.",
    passes=True,
)
REFUSED = Fault("lets this user not in", "Check user, password and database of the URL.")
UNKNOWN_NIGHT = Fault(
    "does not have the night that this belongs to",
    "A night is begun first; reprocheck suite history lists those that were.",
)
OTHER = Fault(
    "refused a statement", "Check that the database is one that reprocheck made, and not another's."
)

OF_SQLITE: Mapping[int, Fault] = {
    sqlite3.SQLITE_ERROR: DAMAGED,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_IOERR: GONE,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_CONSTRAINT: UNKNOWN_NIGHT,
    sqlite3.SQLITE_CANTOPEN: GONE,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
"""By the primary result code: https://sqlite.org/rescode.html"""

OF_SQLITE_IN_DETAIL: Mapping[int, Fault] = {sqlite3.SQLITE_IOERR_SHMSIZE: FULL}
"""By the extended result code: the file that connections share could not grow."""

OF_POSTGRESQL: Mapping[str, Fault] = {
    "08": UNREACHABLE,
    "23503": UNKNOWN_NIGHT,
    "25006": READ_ONLY,
    "28": REFUSED,
    "3D": REFUSED,
    "40": CROSSED,
    "42501": READ_ONLY,
    "53": UNREACHABLE,
    "53100": FULL,
    "55P03": LOCKED,
    "57": UNREACHABLE,
}
"""By SQLSTATE, or its class: https://www.postgresql.org/docs/current/errcodes-appendix.html"""


def fault_of(original: BaseException | None) -> Fault:
    """Return the kind of failure that an exception of the database driver stands for."""
    if isinstance(original, sqlite3.Error):
        code = getattr(original, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        return OF_SQLITE_IN_DETAIL.get(code) or OF_SQLITE.get(code & 0xFF, OTHER)
    if isinstance(original, UnicodeDecodeError):
        return DAMAGED
    state = getattr(original, "sqlstate", None)
    if state is None:
        return UNREACHABLE
    return OF_POSTGRESQL.get(state) or OF_POSTGRESQL.get(state[:2], OTHER)


def error_of(original: BaseException | None, where: str) -> HistoryError:
    """Return a HistoryError for an exception of the database driver.

    `where`: the URL without its password.
    """
    fault = fault_of(original)
    said = str(original).strip().partition("\n")[0]
    kind = DamagedError if fault is DAMAGED else HistoryError
    return kind(f"The history at {where} {fault.what}: {said}", fault.fix)
