"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Makes all tables."""
    op.create_table(
        "revisions",
        sa.Column("revision", TEXT, primary_key=True),
        sa.Column("reprocheck_version", TEXT, nullable=False),
        sa.Column("made", sa.Double, nullable=False),
    )
    op.create_table(
        "facts",
        sa.Column("digest", TEXT, primary_key=True),
        sa.Column("facts", sa.Text, nullable=False),
    )
    op.create_table(
        "curves",
        sa.Column("digest", TEXT, primary_key=True),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "lists",
        sa.Column("digest", TEXT, primary_key=True),
        sa.Column("names", sa.Text, nullable=False),
    )
    op.create_table(
        "nights",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("started", sa.Double, nullable=False),
        sa.Column("ended", sa.Double),
        sa.Column("targets", TEXT, sa.ForeignKey("lists.digest"), nullable=False),
        sa.Column("selected", TEXT, sa.ForeignKey("lists.digest"), nullable=False),
        sa.Column("shard", TEXT, nullable=False),
        sa.Column("commit", TEXT, nullable=False),
        sa.Column("executor", TEXT, nullable=False),
        sa.Column("reprocheck_version", TEXT, nullable=False),
    )
    op.create_table(
        "parts",
        sa.Column("part", TEXT, primary_key=True),
        sa.Column("night", TEXT, sa.ForeignKey("nights.id"), nullable=False),
    )
    _make_checks()
    _make_states()
    _make_baselines()


def _make_checks() -> None:
    op.create_table(
        "checks",
        sa.Column("night", TEXT, sa.ForeignKey("nights.id"), primary_key=True),
        sa.Column("target", TEXT, primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        sa.Column("started", sa.Double, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("verdict", TEXT, nullable=False),
        sa.Column("failed_check", TEXT, nullable=False),
        sa.Column("exit_code", sa.Integer, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("good", sa.Boolean, nullable=False),
        sa.Column("bitwise", sa.Boolean),
        sa.Column("first_bitwise", sa.Integer),
        sa.Column("first_divergence", sa.Integer),
        sa.Column("rung", TEXT, nullable=False),
        sa.Column("place", TEXT, nullable=False),
        sa.Column("causes", sa.Text, nullable=False),
        sa.Column("key", TEXT, sa.ForeignKey("facts.digest"), nullable=False),
        sa.Column("beside", TEXT, sa.ForeignKey("facts.digest"), nullable=False),
        sa.Column("commit", TEXT, nullable=False),
        sa.Column("rtol", sa.Double, nullable=False),
        sa.Column("atol", sa.Double, nullable=False),
        sa.Column("folder", TEXT, nullable=False),
        sa.Column("curves", TEXT, sa.ForeignKey("curves.digest")),
        sqlite_with_rowid=False,
    )
    op.create_index("checks_of_target", "checks", ["target", "night", "attempt"])


def _make_states() -> None:
    op.create_table(
        "states",
        sa.Column("night", TEXT, sa.ForeignKey("nights.id"), primary_key=True),
        sa.Column("target", TEXT, primary_key=True),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("failed", sa.Boolean, nullable=False),
        sa.Column("since", TEXT, nullable=False),
        sa.Column("sentence", TEXT, nullable=False),
        sa.Column("changed", sa.Text, nullable=False),
        sa.Column("drift", sa.Text, nullable=False),
        sa.Column("operation", TEXT, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("states_of_target", "states", ["target", "night"])


def _make_baselines() -> None:
    op.create_table(
        "baselines",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("key", TEXT, sa.ForeignKey("facts.digest"), nullable=False),
        sa.Column("curves", TEXT, sa.ForeignKey("curves.digest")),
        sa.Column("why", TEXT, nullable=False),
        sa.Column("who", TEXT, nullable=False),
        sa.Column("when", sa.Double, nullable=False),
        sa.Column("bitwise", sa.Boolean, nullable=False),
        sa.Column("night", TEXT, nullable=False),
        sa.Column("commit", TEXT, nullable=False),
        sa.Column("environment", TEXT, sa.ForeignKey("facts.digest"), nullable=False),
        sa.Column("replaced", sa.Text, nullable=False),
        sa.Column("recording", TEXT, nullable=False),
    )
    op.create_index("baselines_of_target", "baselines", ["target", "key", "number"])
