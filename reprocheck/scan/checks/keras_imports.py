"""Private and mixed imports of Keras."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check


@check("RC013")
def two_kerases(module: Module, project: Project) -> Iterator[Hit]:
    """`tensorflow.python.keras`, which no seed of `keras` reaches, and two packages of Keras in one
    program.
    """
    kinds: dict[str, ast.AST] = {}
    for node, name in _imports(module):
        if name == "tensorflow.python.keras" or name.startswith("tensorflow.python.keras."):
            message = (
                f"`{name}` is a private copy of Keras with generators of its own; import `keras` or"
                " `tensorflow.keras`"
            )
            yield Hit(code="RC013", module=module, node=node, message=message)
        elif _is_tried(module, node):
            continue
        elif name.split(".")[0] in ("keras", "tf_keras"):
            kinds.setdefault(name.split(".")[0], node)
        elif name.startswith("tensorflow.keras"):
            kinds.setdefault("tensorflow.keras", node)
    if len(kinds) > 1:
        names = sorted(kinds)
        last = max(kinds.values(), key=lambda node: getattr(node, "lineno", 0))
        message = (
            f"{' and '.join(f'`{name}`' for name in names)} in one program: objects and seeds of"
            " one may not be known to the other"
        )
        yield Hit(code="RC013", module=module, node=last, message=message)


def _imports(module: Module) -> Iterator[tuple[ast.AST, str]]:
    for node in module.index.imports:
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif node.level == 0 and node.module:
            if node.module in ("tensorflow", "tensorflow.python"):
                yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)
            else:
                yield node, node.module


def _is_tried(module: Module, node: ast.AST) -> bool:
    """Whether it stands in a `try`: the program takes what there is, or does without it."""
    parent = module.parent(node)
    return isinstance(parent, ast.Try) and bool(parent.handlers) and node in parent.body
