"""Secrets in commands of targets are masked: in the facts of keys, and wherever else they stand."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

from reprocheck.redaction import COMMANDS, Redaction, identity, known_secrets
from reprocheck.suite.keys import masked
from reprocheck.suite.model import Key

revision = "0004"
down_revision = "0003"

FACTS = sa.table("facts", sa.column("digest"), sa.column("facts"))
REFERENCES = {"checks": ("key", "beside"), "baselines": ("key", "environment")}
TEXTS = {"checks": ("reason",), "states": ("sentence", "operation", "changed")}


def upgrade() -> None:
    """Masks what is there; digests of keys follow, so that baselines keep theirs."""
    connection = op.get_bind()
    found = {row.digest: json.loads(row.facts) for row in connection.execute(sa.select(FACTS))}
    words = [word for facts in found.values() for word in _words(facts)]
    pairs = (word.partition("=") for word in words)
    variables = {name: value for name, _, value in pairs}
    known = known_secrets(words, variables)
    for digest, facts in found.items():
        shown = masked(facts)
        if shown != facts:
            _replace(connection, digest, shown)
    redaction = Redaction("folder", identity=identity(), known=known)
    for table, columns in TEXTS.items():
        for column in columns:
            _mask(connection, table, column, redaction.shown)


def _words(facts: Mapping[str, str]) -> list[str]:
    return [word for name in COMMANDS for word in shlex.split(facts.get(name, ""))]


def _replace(connection: sa.Connection, digest: str, shown: Mapping[str, str]) -> None:
    """Puts masked facts in the place of others, under their own digest."""
    new = Key(facts=shown).digest
    if connection.scalar(sa.select(FACTS.c.digest).where(FACTS.c.digest == new)) is None:
        connection.execute(sa.insert(FACTS).values(digest=new, facts=json.dumps(shown)))
    for name, columns in REFERENCES.items():
        for column in columns:
            table = sa.table(name, sa.column(column))
            changed = sa.update(table).where(table.c[column] == digest)
            connection.execute(changed.values({column: new}))
    connection.execute(sa.delete(FACTS).where(FACTS.c.digest == digest))


def _mask(
    connection: sa.Connection, name: str, column: str, shown: Callable[[str, Any], str]
) -> None:
    """Masks a column of texts, or of facts as they were and as they are."""
    table = sa.table(name, sa.column(column))
    for text in connection.scalars(sa.select(table.c[column]).distinct()).all():
        new = _pairs(json.loads(text), shown) if column == "changed" else shown(text, "sentence")
        if new != text:
            connection.execute(
                sa.update(table).where(table.c[column] == text).values({column: new})
            )


def _pairs(changed: Mapping[str, list[str]], shown: Callable[[str, Any], str]) -> str:
    """Facts that changed: commands as a key has them now, all else as text."""
    made = {}
    for name, pair in changed.items():
        if name in COMMANDS:
            made[name] = [masked({name: one})[name] for one in pair]
        else:
            made[name] = [shown(one, "text") for one in pair]
    return json.dumps(made)
