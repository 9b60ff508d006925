"""Every target in every one of the last nights, in one query."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row as SqlRow
from sqlalchemy import (
    ScalarSelect,
    Select,
    Text,
    and_,
    func,
    literal,
    null,
    select,
    type_coerce,
    union_all,
)

from reprocheck.suite.history.tables import checks, nights, states
from reprocheck.suite.model import OverviewRow

_NO_DRIFT = "[]"
"""How the column has it: of nearly all rows."""


def query(last: int) -> Select[Any]:
    """The columns of an OverviewRow for every attempt, by night, target and attempt.

    Targets without a check in a night are those that have a state alone. (A full outer join would
    say it, which SQLite has since 3.39 only.)
    """
    same = and_(checks.c.night == states.c.night, checks.c.target == states.c.target)
    drift = type_coerce(states.c.drift, Text).label("drift")
    checked = (
        select(
            checks.c.night,
            checks.c.target,
            checks.c.attempt,
            states.c.state,
            states.c.failed,
            checks.c.verdict,
            checks.c.good,
            checks.c.bitwise,
            checks.c.seconds,
            checks.c.key,
            drift,
        )
        .select_from(checks.outerjoin(states, same))
        .where(checks.c.night >= _first(last))
    )
    unchecked = (
        select(
            states.c.night,
            states.c.target,
            literal(0),
            states.c.state,
            states.c.failed,
            literal(""),
            literal(False),
            null(),
            literal(0.0),
            literal(""),
            drift,
        )
        .where(states.c.night >= _first(last))
        .where(~select(checks.c.night).where(same).exists())
    )
    both = union_all(checked, unchecked).subquery()
    return select(both).order_by(both.c.night, both.c.target, both.c.attempt)


def _first(last: int) -> ScalarSelect[str]:
    """The first of the last nights; "" where there are fewer."""
    found = select(nights.c.id).order_by(nights.c.id.desc()).offset(last - 1).limit(1)
    return select(func.coalesce(found.scalar_subquery(), "")).scalar_subquery()


def rows_of(found: Iterable[SqlRow[Any]]) -> tuple[OverviewRow, ...]:
    """One row for each night and target, of its last attempt."""
    by_place = {(row.night, row.target): row for row in found}
    return tuple(map(_row, by_place.values()))


def _row(found: SqlRow[Any]) -> OverviewRow:
    return OverviewRow(
        night=found.night,
        target=found.target,
        state=found.state or "",
        failed=bool(found.failed),
        verdict=found.verdict,
        good=bool(found.good),
        bitwise=found.bitwise,
        attempts=found.attempt,
        seconds=found.seconds,
        key=found.key,
        drift=_largest(found.drift),
    )


def _largest(drift: str | None) -> float:
    """The largest relative difference in a column of differences."""
    if drift is None or drift == _NO_DRIFT:
        return 0.0
    differences: list[dict[str, float]] = json.loads(drift)
    return max(one["relative"] for one in differences)
