"""Finds the files that the imports of a file may mean, by name.

Searched are the folder of the file, that of the program, and the folders above the file.
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
    """Yield (level, dotted name) for each import of a file.

    Level 0 is an absolute import, 1 one from the file's own folder, 2 one from the folder above.
    Imports of reprocheck are left out, because reprocheck is not the user's code.
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
    """Return name -> top-level package, for each name that an import binds in a file."""
    return {name: _package(module) for module, name in _bindings(tree)}


def module_names(trees: Iterable[ast.Module]) -> dict[str, str]:
    """Return module -> name, for each module that files import.

    The name is the first under which a file imports the module: `numpy` -> `np`, `tensorflow.keras`
    -> `keras`.
    """
    names: dict[str, str] = {}
    for module, name in chain.from_iterable(map(_bindings, trees)):
        names.setdefault(module, name)
    if "tensorflow" in names:  # it has Keras inside
        inside = names.get("tensorflow.keras", f"{names['tensorflow']}.keras")
        names.setdefault("keras", inside)
    return names


def _bindings(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (dotted name of the module, name in the file) for each name that an import binds.

    Relative imports are left out, because they do not tell the package.
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
    """Return the top-level package of a dotted name."""
    return name.partition(".")[0]


def places(level: int, module: str, file: str, program: str) -> Iterator[tuple[str, ...]]:
    """Yield, for each folder that an import may mean, the files that the import executes there.

    Each `__init__.py` of a package stands before the files below it.

    level    as `modules` returns it: 0 for an absolute import
    file     the file that holds the import
    program  the script that the run executes
    """
    *above, last = module.split(".")
    for folder in _folders(level, file, program):
        packages = accumulate((*above, last), truediv, initial=folder)
        # the folder itself is no package of this import
        inits = [package / "__init__.py" for package in packages][1:]
        yield tuple(map(str, (*inits, folder.joinpath(*above, f"{last}.py"))))


def _folders(level: int, file: str, program: str) -> Iterable[PurePath]:
    """Return the folders in which an import may begin; a relative import has at most one."""
    path = PurePath(file)
    if level:
        return path.parents[level - 1 : level]
    folders = (path.parent, PurePath(program).parent)
    return dict.fromkeys((*folders, *path.parents[:MOST_ABOVE]))
