"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Set
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "reprocheck"
BESIDE = {"api", "e2e", "fakes"}
"""Folders of tests that mirror no folder of the package: the Python interface, whole checks as a
user makes them, and stand-ins for what cannot be installed.
"""


def test_no_conditional_expression_stands_in_another() -> None:
    nested = [f"{path}:{line}" for path in sorted(PACKAGE.rglob("*.py")) for line in _nested(path)]
    assert nested == []


def _nested(path: Path) -> list[int]:
    outer = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.IfExp)
    ]
    return [
        node.lineno
        for node in outer
        if any(isinstance(inner, ast.IfExp) for inner in ast.walk(node) if inner is not node)
    ]


def test_each_file_says_what_it_is_for() -> None:
    silent = [
        str(path)
        for path in sorted(PACKAGE.rglob("*.py"))
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_the_page_on_the_architecture_is_short_and_names_each_folder() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert [name for name in folders if f"  {name}/ " not in page and name != "demo"] == []
    assert len(page.split()) <= 1500


def test_the_house_has_few_floors() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    spine = settings["tool"]["importlinter"]["contracts"][0]
    assert len(spine["layers"]) <= 11


def test_few_modules_lie_at_the_root_of_the_package() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 8


def test_the_tests_mirror_the_package() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {"child"}
    tested = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("**/test_*.py"))}
    assert tested - folders - BESIDE == set()


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Also through imports inside functions; imports for types alone do not count."""
    modules = {_name(path): path for path in PACKAGE.rglob("*.py")}
    left = {name: _imported(path, modules.keys()) - {name} for name, path in modules.items()}
    while True:
        imported = set().union(*left.values())
        # What imports nothing that is left, or is imported by nothing, is part of no circle.
        inner = {name for name in left if left[name] & left.keys() and name in imported}
        if len(inner) == len(left):
            break
        left = {name: left[name] for name in inner}
    assert sorted(left) == []


def _imported(path: Path, modules: Set[str]) -> set[str]:
    """The modules that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in for_types:
            module = _from(node, path)
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= names & modules or {module}
    return found


def _from(node: ast.ImportFrom, path: Path) -> str:
    """The whole name of the module from which something is imported."""
    if not node.level:
        return node.module or ""
    package = path.relative_to(ROOT).parts[: -node.level]
    return ".".join((*package, *filter(None, [node.module])))


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")
