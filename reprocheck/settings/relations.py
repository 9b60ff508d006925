"""Reads the table of relations.

A relation says what is other in a run, and what must then hold of which facts: a control takes a
source of differences away, a variation drives one, another seed must change something, a mirror is
looked for within one run. The recorder reads the same table. Imports errors alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reprocheck.errors import ReprocheckError

TABLE = Path(__file__).parents[1] / "child" / "reprocheck_child" / "shared" / "relations.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """A row of the table, of whatever kind.

    does        what it changes; of a mirror, what it finds
    expects     what must hold: `criterion` (losses agree within the tolerance), `bits` or
                `must differ`
    facts       what that is asked of
    changes     its class: how far it changes the training, "" if not at all
    frameworks  those in which something acts
    starts      how many runs it takes beside run 1
    """

    name: str
    kind: str
    does: str
    expects: str
    facts: str
    changes: str
    frameworks: tuple[str, ...]
    starts: int


@dataclass(frozen=True, slots=True)
class _Kind:
    expects: str
    facts: str
    starts: int


_OF_KIND = MappingProxyType(
    {
        "control": _Kind("criterion", "losses of the checks", 2),
        "variation": _Kind("criterion", "losses of the checks", 1),
        "must differ": _Kind("must differ", "all losses", 2),
        "mirror": _Kind("must differ", "batches and draws of run 1", 0),
    }
)
"""What the rows of one kind have in common, unless a row says otherwise."""


def relations() -> tuple[Relation, ...]:
    """Return all rows of the table."""
    return tuple(map(_relation, json.loads(TABLE.read_text(encoding="utf-8"))))


def _relation(row: dict[str, Any]) -> Relation:
    kind = row["kind"]
    common = _OF_KIND[kind]
    changes = row.get("class", "")
    if kind == "variation":
        changes = "what must not matter" if row["default"] else "rounding or more"
    return Relation(
        name=row["name"],
        kind=kind,
        does=row["does"],
        expects=row.get("expects", common.expects),
        facts=common.facts,
        changes=changes,
        frameworks=tuple(row["frameworks"]),
        starts=common.starts,
    )


def rows_of(
    file: Path, kind: str, fields: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one kind (`control`, `variation`) without the field `kind`.

    Raises ReprocheckError if a row lacks a field or has one that no row of its kind has; it names
    the file, the row and the field.
    """
    known = {*fields, *optional}
    for number, row in enumerate(json.loads(file.read_text(encoding="utf-8")), 1):
        if row.pop("kind", None) != kind:
            continue
        lacking = [f"has no field {key}" for key in fields if key not in row]
        unknown = [f"has a field {key}, which no {kind} has" for key in row.keys() - known]
        if wrong := [*lacking, *unknown]:
            name = row.get("name", f"number {number}")
            fix = f"The fields are {', '.join(fields)}"
            if optional:
                fix += f", and where other values serve, {', '.join(optional)}"
            raise ReprocheckError(f"{file.name}: the {kind} {name} {wrong[0]}.", f"{fix}.")
        yield row
