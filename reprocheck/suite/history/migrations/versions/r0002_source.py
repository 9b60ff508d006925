"""The line of the first cause of a check."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds the column; of the checks that are there, no line is known."""
    op.add_column("checks", sa.Column("source", TEXT, nullable=False, server_default=""))
