"""Every target in every one of the last nights.

Checks and states are read on their own, each in the order of its primary key, which is night and
target first: a range of the table, without a sort. The night from which on is asked for first, so
that PostgreSQL knows how large the range is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Select, Text, select, type_coerce

from reprocheck.suite.history import rows
from reprocheck.suite.history.tables import checks, differences, nights, states
from reprocheck.suite.model import OverviewRow

_NO_DRIFT = "[]"
"""How the column has it: of nearly all rows."""
Place = tuple[str, str]
"""A night and a target."""
Check = tuple[str, str, int, str, bool, bool | None, rows.Time, str]
State = tuple[str, str, str, bool, str]
"""The columns of a row, as their query has them."""


def first_query(last: int) -> Select[Any]:
    """Return a query for the first of the last `last` nights.

    It yields no row if there are fewer nights.
    """
    return select(nights.c.id).order_by(nights.c.id.desc()).offset(last - 1).limit(1)


def checks_query(first: str) -> Select[Any]:
    """Return a query for the overview's columns of every attempt since a night.

    The rows are ordered by night, target and attempt.
    """
    columns = checks.c
    return (
        select(
            columns.night,
            columns.target,
            columns.attempt,
            columns.verdict,
            columns.good,
            columns.bitwise,
            columns.seconds,
            columns.key,
        )
        .where(columns.night >= first)
        .order_by(columns.night, columns.target, columns.attempt)
    )


def states_query(first: str) -> Select[Any]:
    """Return a query for the overview's columns of every state since a night.

    The rows are ordered by night and target.
    """
    columns = states.c
    drift = type_coerce(columns.drift, Text).label("drift")
    return (
        select(columns.night, columns.target, columns.state, columns.failed, drift)
        .where(columns.night >= first)
        .order_by(columns.night, columns.target)
    )


def rows_of(
    found_checks: Iterable[Sequence[Any]], found_states: Iterable[Sequence[Any]]
) -> tuple[OverviewRow, ...]:
    """Return one row for each night and target, with its last attempt: by night, then by target.

    Raises ValueError if a row is none that a history wrote.
    """
    of_checks = msgspec.convert(list(map(tuple, found_checks)), list[Check])
    of_states = msgspec.convert(list(map(tuple, found_states)), list[State])
    rows.refuse_other_nights({row[0] for row in of_checks} | {row[0] for row in of_states})
    last_attempts: dict[Place, Check] = {(row[0], row[1]): row for row in of_checks}
    state_of: dict[Place, State] = {(row[0], row[1]): row for row in of_states}
    places = sorted({**last_attempts, **state_of})  # as good as sorted before
    return tuple(_row(place, last_attempts.get(place), state_of.get(place)) for place in places)


def _row(place: Place, check: Check | None, state: State | None) -> OverviewRow:
    """Return a row from columns in the order of the queries.

    Columns are read by position, because reading them by name would double the cost.
    """
    night, target = place
    word, failed, drift = "", False, _NO_DRIFT
    if state is not None:
        _, _, word, failed, drift = state
    if check is None:
        return OverviewRow(
            night=night, target=target, state=word, failed=failed, drift=_largest(drift)
        )
    _, _, attempt, verdict, good, bitwise, seconds, key = check
    return OverviewRow(
        night=night,
        target=target,
        state=word,
        failed=failed,
        verdict=verdict,
        good=good,
        bitwise=bitwise,
        attempts=attempt,
        seconds=seconds,
        key=key,
        drift=_largest(drift),
    )


def _largest(drift: str) -> float:
    """Return the largest relative difference in a column of differences."""
    if drift == _NO_DRIFT:
        return 0.0
    return max((one.relative for one in differences(json.loads(drift))), default=0.0)
