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
    """Find `tensorflow.python.keras`, which no seed of `keras` reaches, and two packages of Keras
    in one program.
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
        package = _PACKAGES.match(name)
        # In a `try` the program takes what there is, or does without it.
        parent = module.parent(node)
        is_tried = isinstance(parent, ast.Try) and bool(parent.handlers) and node in parent.body
        if package is not None and not is_tried:
            packages.setdefault(package.group(), node)
    if len(packages) < 2:
        return
    shown = "` and `".join(sorted(packages))
    last = max(packages.values(), key=lambda node: getattr(node, "lineno", 0))
    message = f"`{shown}` in one program: objects and seeds of one may not be known to the other"
    yield Hit(code="RC013", module=module, node=last, message=message)


_PACKAGES = re.compile(r"(?:keras|tf_keras)(?=\.|$)|tensorflow\.keras")


def _imports(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield each import statement with the full name of each module that it imports."""
    for node in module.index.imports:
        match node:
            case ast.Import(names=names):
                yield from ((node, alias.name) for alias in names)
            case ast.ImportFrom(level=0, module="tensorflow" | "tensorflow.python", names=names):
                yield from ((node, f"{node.module}.{alias.name}") for alias in names)
            case ast.ImportFrom(level=0, module=str(name)):
                yield node, name
