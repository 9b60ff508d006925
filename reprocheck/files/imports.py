"""Where the modules that a file imports may lie, by name: beside it, beside the program, and in the
folders above it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, repeat
from operator import truediv
from pathlib import PurePath

MOST_ABOVE = 5
"""Folders above a file in which its own packages are looked for."""
_OURS = "reprocheck"


def modules(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return (level, dotted name) of what a file imports: level 0 is absolute, 1 means beside the
    file, 2 in the folder above.

    Not reprocheck itself, wherever it lies: a script that says its losses imports it, and it is no
    code of the user's.
    """
    ours = (0, _OURS)
    for level, name in _imported(tree):
        if (level, _package(name)) != ours:
            yield level, name


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            # what stands behind `import` may be a module as well
            names = (f"{base}.{alias.name}".strip(".") for alias in node.names)
            yield from zip(repeat(node.level), filter(None, (base, *names)))


def bound_to(tree: ast.AST) -> dict[str, str]:
    """Return the names that imports bind in a file, each with the first name of the package that it
    comes from.
    """
    return {name: _package(module) for module, name in _bindings(tree)}


def module_names(trees: Iterable[ast.Module]) -> dict[str, str]:
    """Return the modules that files import, with the first of the names that they have there:
    `numpy` -> `np`, `tensorflow.keras` -> `keras`.
    """
    names: dict[str, str] = {}
    for module, name in chain.from_iterable(map(_bindings, trees)):
        names.setdefault(module, name)
    if "tensorflow" in names:  # it has Keras inside
        inside = names.get("tensorflow.keras", f"{names['tensorflow']}.keras")
        names.setdefault("keras", inside)
    return names


def _bindings(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (dotted name, name in the file) of what the imports of a file bind. A relative import
    says nothing of the package.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=imported):
                for alias in imported:
                    # without `as`, `import a.b` binds a
                    module = alias.name if alias.asname else _package(alias.name)
                    yield module, alias.asname or module
            case ast.ImportFrom(module=str(module), names=imported, level=0):
                for alias in imported:
                    yield f"{module}.{alias.name}", alias.asname or alias.name


def _package(name: str) -> str:
    """Return the first of the names that a dotted name is made of."""
    return name.partition(".")[0]


def places(level: int, module: str, file: str, program: str) -> Iterator[tuple[str, ...]]:
    """Yield, for each folder that an import may mean, the files that it executes there, packages
    first.
    """
    *above, last = module.split(".")
    for folder in _folders(level, file, program):
        packages = accumulate((*above, last), truediv, initial=folder)
        # the folder itself is no package of this import
        inits = [package / "__init__.py" for package in packages][1:]
        yield tuple(map(str, (*inits, folder.joinpath(*above, f"{last}.py"))))


def _folders(level: int, file: str, program: str) -> Iterable[PurePath]:
    """Return where an import may begin: one that is relative in one folder, at most."""
    path = PurePath(file)
    if level:
        return path.parents[level - 1 : level]
    folders = (path.parent, PurePath(program).parent)
    return dict.fromkeys((*folders, *path.parents[:MOST_ABOVE]))
