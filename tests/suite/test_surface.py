"""What the nightly takes of the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from reprocheck import suite
from reprocheck.suite import surface

MODULES = sorted(Path(suite.__file__).parent.rglob("*.py"))


def taken(module: Path) -> set[str]:
    """The names that a module imports from the surface."""
    imports = (node for node in ast.walk(ast.parse(module.read_text())))
    return {
        alias.name
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module == "reprocheck.suite.surface"
        for alias in node.names
    }


def test_the_surface_has_at_most_15_names_and_each_is_used() -> None:
    assert len(surface.__all__) <= 15
    assert set().union(*map(taken, MODULES)) == set(surface.__all__)


@pytest.mark.parametrize("name", surface.__all__)
def test_each_name_of_the_surface_is_there(name: str) -> None:
    assert hasattr(surface, name)
