"""The servers that tests of the suite share: each is started once, by the first test that asks for
it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.suite import cluster
from tests.suite.history import postgres


@pytest.fixture(scope="session")
def postgresql() -> Iterator[postgres.Server]:
    """A PostgreSQL server of the tests."""
    with postgres.server() as server:
        yield server


@pytest.fixture(scope="package")
def nodes() -> Iterator[cluster.Nodes]:
    """A Ray cluster of the tests, which ends with them: it is never idle."""
    pytest.importorskip("ray")
    with cluster.cluster() as made:
        yield made
