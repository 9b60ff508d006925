"""What Alembic runs: the migrations on the connection that `reprocheck.suite.history.migrate` has,
in its transaction.
"""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.attributes["version_table"],
)
context.run_migrations()
