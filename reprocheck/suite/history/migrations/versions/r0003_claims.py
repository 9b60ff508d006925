"""Which process makes a night."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Makes the table of claims."""
    op.create_table(
        "claims",
        sa.Column("night", TEXT, primary_key=True),
        sa.Column("token", TEXT, nullable=False),
        sa.Column("begun", sa.Double, nullable=False),
        sa.Column("heard", sa.Double, nullable=False),
    )
