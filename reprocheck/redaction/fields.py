"""The fields that may leave the machine, and how, read from `fields.toml`: the list that decides.

A text that stands in no row is left out. Numbers need no row: they leave as they are, but for those
behind `value`. `docs/reference/bundle.md` shows the table; `python .ci/pages.py` writes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

How = Literal[
    "as is",
    "name",
    "target",
    "path",
    "arguments",
    "command",
    "words",
    "person",
    "sentence",
    "text",
    "log",
    "value",
    "facts",
    "changes",
    "versions",
    "settings",
]
Table = Mapping[str, Mapping[How, Sequence[str]]]
"""Class of the result model -> ways in which fields leave -> names of the fields."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fields:
    """The tables of fields, with the meaning of each way of redaction in them."""

    means: Mapping[How, str]
    check: Table
    resume: Table
    night: Table
    left_out: Mapping[str, Sequence[str]]


def rows(table: Table) -> Iterator[tuple[tuple[str, str], How]]:
    """Yield each class and field with the way in which the field is redacted."""
    for kind, ways in table.items():
        for how, names in ways.items():
            for name in names:
                yield (kind, name), how


TABLES = Fields(**tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")))
EACH = (TABLES.check, TABLES.resume, TABLES.night)
FIELDS: Mapping[tuple[str, str], How] = dict(chain.from_iterable(map(rows, EACH)))
"""(class of the result model, field) -> how it leaves."""
LEFT_OUT = frozenset((kind, name) for kind, names in TABLES.left_out.items() for name in names)
"""Fields that hold more than text, and that no report shows: empty in what leaves."""
