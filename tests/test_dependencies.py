"""What the package imports is what it declares, no more and no less."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import reprocheck
from tests.conftest import ROOT

PACKAGE = Path(reprocheck.__file__).parent
IN_THE_USERS_PROCESS = ("child", "demo")
"""Folders that import what the user's script has imported, and nothing else."""
NAMED_ELSE = {"kingfisher_sdk": "kingfisher-secret-scanner"}
"""The distribution of a module that has another name."""
LOADED_BY = {"pytest"}
"""What is there where the module that imports it is loaded: pytest loads its plugin."""


def imported() -> set[str]:
    """The distributions whose modules are imported anywhere in the package, outside of the user's
    process.
    """
    files = [
        path
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in IN_THE_USERS_PROCESS
    ]
    names = {
        name
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        for name in roots(node)
    }
    return (
        {NAMED_ELSE.get(name, name).lower() for name in names}
        - {name.lower() for name in sys.stdlib_module_names}
        - {"reprocheck"}
    )


def roots(node: ast.AST) -> Iterator[str]:
    """The first part of each module that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module.partition(".")[0]


def declared() -> tuple[set[str], set[str]]:
    """The distributions that every installation has, and those of the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [
        one
        for name, wanted in project["optional-dependencies"].items()
        if name != "dev"
        for one in wanted
    ]
    return names(project["dependencies"]), names(extras)


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[ ]", one, maxsplit=1)[0].lower() for one in requirements}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    always, extra = declared()
    found = imported() - LOADED_BY
    assert found - always - extra == set()
    assert always - found == set()
