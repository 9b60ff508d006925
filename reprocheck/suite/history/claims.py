"""Which process makes a night: of several, on whatever machines, one.

A claim is a row with a random word, the token, that its process renews. A process that is not heard
of for `LEASE` seconds is taken to be dead, and its night may be another's. In PostgreSQL the times
are those of the server, so that the clocks of machines need not agree.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, text, update

from reprocheck.language import count
from reprocheck.suite.history import keep, rows
from reprocheck.suite.history.errors import HistoryError, UnderWayError
from reprocheck.suite.history.store import History
from reprocheck.suite.history.tables import checks, claims, nights
from reprocheck.suite.model import Night

LEASE = 300.0
"""Seconds after which a process that was not heard of is taken to be dead."""
RENEWED = 30.0
"""Seconds after which a claim is renewed."""
LOCK = 0x636C616D
"""The number of the lock that PostgreSQL has for claims: who looks at them may then make one."""
IsAlive = Callable[[str], bool | None]
"""Whether the process with a token is alive; None where that cannot be seen from this machine."""


def new_token() -> str:
    """A word for one process: 32 hexadecimal digits by chance, which say nothing of it."""
    return secrets.token_hex(16)


class Claim:
    """A night that is this process's own; a context manager, at whose end it is given back."""

    def __init__(self, history: History, night: Night, token: str) -> None:
        self.night = night
        self._history = history
        self._mine = (claims.c.night == night.id, claims.c.token == token)
        self._renewed = time.monotonic()

    def renew(self, *, now: bool = False) -> None:
        """Says that this process is alive: where it last did long ago, or `now`.

        Raises UnderWayError where another process has the night by now. A database that does not
        answer is no reason to stop: it is told later.
        """
        if not now and time.monotonic() - self._renewed < RENEWED:
            return
        self._renewed = time.monotonic()
        try:
            with self._history.writing() as connection:
                renewal = update(claims).where(*self._mine).values(heard=_now(connection))
                lost = connection.execute(renewal).rowcount == 0
        except HistoryError:
            return
        if lost:
            raise UnderWayError(
                f"The night {self.night.id} is another process's by now: this one was not heard of"
                f" for {LEASE / 60:.0f} minutes.",
                "Leave it to that one. The checks that this one has made are kept.",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, HistoryError):
            return  # it would be waited for once more: whoever comes sees that this process is dead
        with suppress(HistoryError), self._history.writing() as connection:
            connection.execute(delete(claims).where(*self._mine))


def begin(
    history: History, night: Night, token: str, is_alive: IsAlive, *, twice: bool = False
) -> Claim:
    """Records a night and claims it, in one transaction.

    Raises UnderWayError where a night under way is about the same targets at the same commit,
    unless `twice`.
    """

    def write(connection: Connection) -> _Held | None:
        now = _locked(connection)
        alike = (
            _claims()
            .join(nights, nights.c.id == claims.c.night)
            .where(nights.c.selected == rows.digest_of_names(night.selected))
            .where(nights.c.commit == night.commit, nights.c.ended.is_(None))
        )
        held = None if twice else _held(connection, alike, token, now, is_alive)
        if held is None:
            keep.night(connection, night)
            _claim(connection, night.id, token, now)
        return held

    held = history.written(write)
    if held is not None:
        raise _would_be_checked_twice(held)
    return Claim(history, night, token)


def take(history: History, night: Night, token: str, is_alive: IsAlive) -> Claim:
    """Claims a night that was interrupted. Raises UnderWayError where a process makes it."""

    def write(connection: Connection) -> _Held | None:
        now = _locked(connection)
        of_night = _claims().where(claims.c.night == night.id)
        held = _held(connection, of_night, token, now, is_alive)
        if held is None:
            _claim(connection, night.id, token, now)
        return held

    held = history.written(write)
    if held is not None:
        raise UnderWayError(
            f"The night {held.night} is under way: {_progress(held)}.",
            f"Wait for its end, or end that process first.{_if_gone(held)}",
        )
    return Claim(history, night, token)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Held:
    """A night that a living process makes.

    begun, heard  seconds since it was claimed, and since that process was last heard of
    checks        that the night has
    is_here       whether the process is seen on this machine
    """

    night: str
    begun: float
    heard: float
    checks: int
    is_here: bool


def _locked(connection: Connection) -> float:
    """Takes the lock, and returns the time. SQLite is locked by whoever writes."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK})
    return _now(connection)


def _now(connection: Connection) -> float:
    if connection.dialect.name != "postgresql":
        return time.time()
    epoch = func.extract("epoch", func.clock_timestamp())
    return float(connection.execute(select(epoch)).scalar_one())


def _claims() -> Select[Any]:
    """Claims, each with the number of checks that its night has."""
    made = select(func.count()).where(checks.c.night == claims.c.night).scalar_subquery()
    return select(claims, made.label("made"))


def _claim(connection: Connection, night: str, token: str, now: float) -> None:
    connection.execute(delete(claims).where(claims.c.night == night))
    connection.execute(insert(claims).values(night=night, token=token, begun=now, heard=now))


def _held(
    connection: Connection, query: Select[Any], token: str, now: float, is_alive: IsAlive
) -> _Held | None:
    """The first night of a query that another process makes."""
    for found in connection.execute(query.where(claims.c.token != token)).all():
        seen = is_alive(found.token)
        if seen or (seen is None and _is_fresh(found, now)):
            return _Held(
                night=found.night,
                begun=max(0.0, now - found.begun),
                heard=max(0.0, now - found.heard),
                checks=found.made,
                is_here=seen is True,
            )
    return None


def _is_fresh(found: Row[Any], now: float) -> bool:
    """Whether a process was heard of lately. A time to come is that of a clock that was set back
    since, and says as little as one that is long ago.
    """
    return bool(abs(now - found.heard) < LEASE)


# ------------------------------------------------------------------------------------------- words


def _would_be_checked_twice(held: _Held) -> UnderWayError:
    return UnderWayError(
        f"The night {held.night} is under way with the same targets at the same commit:"
        f" {_progress(held)}.",
        "Wait for its end. Two machines share the work of a night where one starts it with --shard"
        f" 1/2 and the other one with --shard 2/2. --twice checks all of it again.{_if_gone(held)}",
    )


def _progress(held: _Held) -> str:
    return f"its process began {_ago(held.begun)} and has {count(held.checks, 'check')} so far"


def _ago(seconds: float) -> str:
    minutes = int(seconds / 60)
    if minutes < 2:
        return f"{count(int(seconds), 'second')} ago"
    return f"{minutes} minutes ago"


def _if_gone(held: _Held) -> str:
    """What to do where the process is on another machine, which may be gone."""
    if held.is_here:
        return ""
    left = max(1, round(LEASE - held.heard))
    return (
        f" Its process is on another machine and was heard of {_ago(held.heard)}. If that machine"
        f" is gone, --resume {held.night} goes on with the night in {count(left, 'second')}."
    )
