"""The histories that the tests write to: a file of SQLite and a database of PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suite.history import postgres


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a file that is not there yet."""
    return f"sqlite:///{tmp_path / 'nightly' / 'history.sqlite'}"


@pytest.fixture
def postgresql_url(postgresql: postgres.Server) -> str:
    """The URL of a database without tables."""
    return postgresql.new_database()


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.xdist_group(postgres.GROUP))]
)
def url(request: pytest.FixtureRequest) -> str:
    """The URL of a history that is not there yet, once for each engine."""
    return str(request.getfixturevalue(f"{request.param}_url"))
