"""Private and mixed imports of Keras."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check

_OF_PRIVATE = re.compile(
    r"tensorflow\.python\.keras\.(?!(utils|preprocessing|callbacks|engine|metrics|losses|datasets)\.)"
)
"""Its modules, but for those that draw nothing."""


@check("RC013")
def two_kerases(module: Module, project: Project) -> Iterator[Hit]:
    """`tensorflow.python.keras`, which no seed of `keras` reaches, and two packages of Keras in one
    program.
    """
    packages: dict[str, ast.AST] = {}
    for node, name in _imports(module):
        if _OF_PRIVATE.match(f"{name}."):
            message = (
                f"`{name}` is a private copy of Keras with its own generators; import `keras` or"
                " `tensorflow.keras`"
            )
            yield Hit(code="RC013", module=module, node=node, message=message)
            continue
        package = _package(name)
        if package and not _is_tried(module, node):
            packages.setdefault(package, node)
    if len(packages) < 2:
        return
    shown = "` and `".join(sorted(packages))
    last = max(packages.values(), key=lambda node: getattr(node, "lineno", 0))
    message = f"`{shown}` in one program: objects and seeds of one may not be known to the other"
    yield Hit(code="RC013", module=module, node=last, message=message)


_PACKAGES = re.compile(r"(?:keras|tf_keras)(?=\.|$)|tensorflow\.keras")


def _package(name: str) -> str:
    """Return the package of Keras that a module belongs to; "" for another module."""
    found = _PACKAGES.match(name)
    if found is None:
        return ""
    return found.group()


def _imports(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield imports, and the modules that they name."""
    for node in module.index.imports:
        match node:
            case ast.Import(names=names):
                yield from ((node, alias.name) for alias in names)
            case ast.ImportFrom(level=0, module="tensorflow" | "tensorflow.python", names=names):
                yield from ((node, f"{node.module}.{alias.name}") for alias in names)
            case ast.ImportFrom(level=0, module=str(name)):
                yield node, name


def _is_tried(module: Module, node: ast.AST) -> bool:
    """Return whether it stands in a `try`: the program takes what there is, or does without it."""
    match module.parent(node):
        case ast.Try(body=body, handlers=[_, *_]):
            return node in body
    return False
