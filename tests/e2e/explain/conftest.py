"""Searches that several tests look at are made once."""

from __future__ import annotations

import pytest

from tests.e2e.explain.explaining import PRIVATE, REFUSES, TWO_CAUSES, Explained, differing, explain


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Explained:
    """One cause, which the control that is tried first removes."""
    return differing(
        explain(PRIVATE, tmp_path_factory.mktemp("private") / "work", "--write-patch", "fix.patch")
    )


@pytest.fixture(scope="module")
def two_causes(tmp_path_factory: pytest.TempPathFactory) -> Explained:
    """Two causes, each of which a control removes."""
    return differing(explain(TWO_CAUSES, tmp_path_factory.mktemp("two") / "work"))


@pytest.fixture(scope="module")
def refuses(tmp_path_factory: pytest.TempPathFactory) -> Explained:
    """A script that no control helps, and that fails under one of them."""
    return differing(explain(REFUSES, tmp_path_factory.mktemp("refuses") / "work"))
