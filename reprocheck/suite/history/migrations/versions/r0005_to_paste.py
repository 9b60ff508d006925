"""What of a reason and of a sentence may be pasted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
COLUMNS = {"checks": "reason_to_paste", "states": "sentence_to_paste"}


def upgrade() -> None:
    """Adds the columns; of what is there, nothing says what it quotes of a log."""
    for table, column in COLUMNS.items():
        op.add_column(table, sa.Column(column, TEXT, nullable=False, server_default=""))
