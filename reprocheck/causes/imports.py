"""Where the modules that a file imports may lie, by name: beside it, beside the program, and in the
folders above it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

MOST_ABOVE = 5
"""Folders above a file in which its own packages are looked for."""
_OURS = "reprocheck"


def modules(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(level, dotted name) of what a file imports: level 0 is absolute, 1 means beside the file, 2
    in the folder above.

    Not reprocheck itself, wherever it lies: a script that says its losses imports it, and it is no
    code of the user's.
    """
    return (
        (level, name) for level, name in _imported(tree) if level or name.partition(".")[0] != _OURS
    )


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
            yield from ((node.level, name) for name in names if name)


def bound_to(tree: ast.AST) -> dict[str, str]:
    """The names that imports bind in a file, each with the first name of the package that it comes
    from.
    """
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound |= {
                alias.asname or alias.name.partition(".")[0]: alias.name.partition(".")[0]
                for alias in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            package = node.module.partition(".")[0]
            bound |= {alias.asname or alias.name: package for alias in node.names}
    return bound


def places(level: int, module: str, file: str, program: str) -> Iterator[tuple[str, ...]]:
    """For each folder that an import may mean, the files that it executes there, packages first."""
    parts = module.split(".")
    for folder in _folders(level, file, program):
        packages = [
            folder.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1)
        ]
        yield tuple(
            str(path) for path in (*packages, folder.joinpath(*parts[:-1], f"{parts[-1]}.py"))
        )


def _folders(level: int, file: str, program: str) -> list[PurePath]:
    path = PurePath(file)
    if level:
        return [path.parents[level - 1]] if level <= len(path.parents) else []
    return list(dict.fromkeys((path.parent, PurePath(program).parent, *path.parents[:MOST_ABOVE])))
