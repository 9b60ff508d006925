"""The data of a suite as rows of the tables, and back. What is kept under a digest is left out of
a row: the row has the digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Row as SqlRow

from reprocheck.suite.model import Baseline, Key, Night, TargetCheck, TargetState

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shared:
    """What rows name by a digest."""

    facts: Mapping[str, Mapping[str, str]]
    lists: Mapping[str, tuple[str, ...]]


def digest_of_facts(facts: Mapping[str, str]) -> str:
    """As the environment key has it: 16 hexadecimal digits."""
    return Key(facts=facts).digest


def digest_of_names(names: Sequence[str]) -> str:
    """32 hexadecimal digits that stand for a list of names."""
    return hashlib.sha256(json.dumps(list(names)).encode()).hexdigest()[:32]


def digest_of_curves(packed: bytes) -> str:
    """64 hexadecimal digits that stand for packed curves."""
    return hashlib.sha256(packed).hexdigest()


def _curves(packed: bytes) -> str | None:
    return digest_of_curves(packed) if packed else None


def _plain(kind: type, *digested: str) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.name not in digested)


NIGHT = _plain(Night, "targets", "selected")
CHECK = _plain(TargetCheck, "key", "beside", "curves")
STATE = _plain(TargetState)
BASELINE = _plain(Baseline, "key", "curves", "environment")
"""The fields that stand in a row as they are."""


def _row(one: object, names: tuple[str, ...]) -> Row:
    return {name: getattr(one, name) for name in names}


def row_of_night(night: Night) -> Row:
    """The row of a night."""
    return _row(night, NIGHT) | {
        "targets": digest_of_names(night.targets),
        "selected": digest_of_names(night.selected),
    }


def night_of(row: SqlRow[Any], shared: Shared) -> Night:
    """A night from its row."""
    return Night(
        targets=shared.lists[row.targets],
        selected=shared.lists[row.selected],
        **_row(row, NIGHT),
    )


def row_of_check(check: TargetCheck) -> Row:
    """The row of a check."""
    return _row(check, CHECK) | {
        "key": check.key.digest,
        "beside": digest_of_facts(check.beside),
        "curves": _curves(check.curves),
    }


def check_of(row: SqlRow[Any], shared: Shared) -> TargetCheck:
    """A check from its row; `packed` of the row are its curves, where they were asked for."""
    return TargetCheck(
        key=Key(facts=shared.facts[row.key]),
        beside=shared.facts[row.beside],
        curves=row._mapping.get("packed") or b"",
        **_row(row, CHECK),
    )


def row_of_state(state: TargetState) -> Row:
    """The row of a state."""
    return _row(state, STATE)


def state_of(row: SqlRow[Any]) -> TargetState:
    """A state from its row."""
    return TargetState(**_row(row, STATE))


def row_of_baseline(baseline: Baseline) -> Row:
    """The row of a baseline."""
    return _row(baseline, BASELINE) | {
        "key": baseline.key.digest,
        "environment": digest_of_facts(baseline.environment),
        "curves": _curves(baseline.curves),
    }


def baseline_of(row: SqlRow[Any], shared: Shared) -> Baseline:
    """A baseline from its row."""
    return Baseline(
        key=Key(facts=shared.facts[row.key]),
        environment=shared.facts[row.environment],
        curves=row.packed or b"",
        **_row(row, BASELINE),
    )
