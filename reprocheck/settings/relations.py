"""Reads the table of relations.

A control takes a source of differences away, a variation drives one. The recorder reads the same
table. Imports errors alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reprocheck.errors import ReprocheckError

TABLE = Path(__file__).parents[1] / "child" / "reprocheck_child" / "shared" / "relations.json"


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
