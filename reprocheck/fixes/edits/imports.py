"""The imports of a text: the names that modules have there, and those that are added."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import filterfalse, takewhile
from typing import TypeVar

import libcst as cst

from reprocheck.fixes.edits.tree import Statement, Tree, written
from reprocheck.scan.aliases import KNOWN_PACKAGES
from reprocheck.scan.index import of_kind

AnyNode = TypeVar("AnyNode", bound=cst.CSTNode)


def can_bind(tree: Tree, module: str) -> bool:
    """Return whether a module can be used at the top.

    It is imported there, or its name is free and an import there is allowed.
    """
    if bound_as(tree.module.body, module) is not None:
        return True
    if any(map(tree.named, ("environ", "putenv"))):
        # what a library reads as it is imported may be set before the import that the program has
        return False
    if tree.binds(module):
        return False
    # `from numpy import random` takes the name `random`, and `import pandas as numpy` that of NumPy
    imports = imported(tree.every(cst.Import, cst.ImportFrom))
    return all(name != module or thing == module for thing, name in imports)


def name_of(tree: Tree, module: str) -> str:
    """Return what the top of a program writes for a module that it imports, or will import."""
    return bound_as(tree.module.body, module) or module


def bound_as(statements: Sequence[cst.CSTNode], module: str) -> str | None:
    """Return what these statements let one write for a module.

    `np` for `import numpy as np`, `tf.keras` for `import tensorflow as tf`.
    """
    return _bound(statements).get(module)


def _bound(statements: Sequence[cst.CSTNode]) -> dict[str, str]:
    """Return what these statements let one write for each module that they import."""
    bound: dict[str, str] = {}
    for statement in of_kind(statements, cst.SimpleStatementLine):
        for thing, name in imported(of_kind(statement.body, cst.Import, cst.ImportFrom)):
            bound.setdefault({"tensorflow.keras": "keras"}.get(thing, thing), name)
    if "tensorflow" in bound:
        bound.setdefault("keras", f"{bound['tensorflow']}.keras")
    return bound


def imported(imports: Iterable[cst.Import | cst.ImportFrom]) -> Iterator[tuple[str, str]]:
    """Yield the dotted name of each imported thing, and the name that it gets.

    `*` for that of a star import.
    """
    for node in imports:
        if isinstance(node, cst.Import):
            yield from map(_of_module, node.names)
        elif isinstance(node.names, cst.ImportStar):
            yield f"{written(node.module)}.*", "*"
        else:
            # `from numpy import random as npr` brings `numpy.random`, under the name that it says
            for one in node.names:
                name = one.evaluated_name
                yield f"{written(node.module)}.{name}", one.evaluated_alias or name


def _of_module(imported: cst.ImportAlias) -> tuple[str, str]:
    """Return the module and the bound name of an import.

    `import numpy.random` binds `numpy`, `import numpy.random as npr` binds `npr`.
    """
    if imported.evaluated_alias:
        return imported.evaluated_name, imported.evaluated_alias
    root = imported.evaluated_name.partition(".")[0]
    return root, root


def place(tree: Tree, before: int) -> int:
    """Return how many statements of the module stand above the seeding lines.

    They end with the last import of its head, and all stand above a line.
    """
    index = 0
    above = takewhile(lambda statement: tree.last_line(statement) < before, tree.module.body)
    for number, statement in enumerate(above, 1):
        is_first_text = number == 1 and _is_docstring(statement)
        if is_first_text or _imports(statement):
            index = number
        elif not isinstance(statement, cst.SimpleStatementLine):
            break
    return index


def _imports(statement: cst.CSTNode) -> bool:
    """Return an import, or `try` and `if` around imports alone."""
    if isinstance(statement, cst.If | cst.Try):
        return all(map(_is_line_of_imports, statement.body.body))
    return _is_line_of_imports(statement)


def _is_line_of_imports(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return any(of_kind(statement.body, cst.Import, cst.ImportFrom))


def _is_docstring(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=value), *_]):
            return isinstance(value, cst.SimpleString | cst.ConcatenatedString)
    return False


def headed(
    module: cst.Module, index: int, imports: Collection[str], heads: Sequence[tuple[str, str]]
) -> cst.Module:
    """Return the module with missing imports, and lines after its first statements.

    Each of the lines is a module and what is called in it.
    """
    above, below = module.body[:index], list(module.body[index:])
    bound = _bound(above)
    modules = [name for name, _ in heads]
    missing = filterfalse(bound.__contains__, dict.fromkeys([*imports, *modules]))
    calls = dict.fromkeys(f"{bound.get(name, name)}.{call}" for name, call in heads)
    head: list[Statement] = list(above)
    for name in missing:
        _import(head, name)
    new_lines = _apart(list(map(_line, calls)), head)
    if not (above or new_lines):
        # the text begins with the imports: what it has itself stands apart from them
        below = _apart(below, head)
    return module.with_changes(body=[*head, *new_lines, *below])


def _import(head: list[Statement], name: str) -> None:
    """Import a module below the last import of its kind, such as standard library.

    A first import of the standard library goes in a block above the others, else below them all.
    """
    kinds = list(map(_kinds, head))
    index = max((number for number, one in enumerate(kinds, 1) if _kind(name) in one), default=0)
    if index or _kind(name) != "standard":
        head.insert(index or len(head), _line(f"import {name}"))
        return
    index = sum(1 for _ in takewhile(_is_first, head))
    added = _line(f"import {name}")
    if index < len(head):
        lines = getattr(head[index], "leading_lines", ())
        if not any(one.comment for one in lines):
            added = added.with_changes(leading_lines=lines)
        head[index:] = _apart(head[index:], [added])
    head.insert(index, added)


def _is_first(statement: cst.CSTNode) -> bool:
    """Return whether a statement stands above all imports of modules."""
    return _is_docstring(statement) or "future" in _kinds(statement)


def _kinds(statement: cst.CSTNode) -> set[str]:
    """Return the kinds of what a line imports."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return set()
    brought = imported(of_kind(statement.body, cst.Import, cst.ImportFrom))
    return {_kind(thing.partition(".")[0]) for thing, _ in brought}


def _kind(package: str) -> str:
    """Return the block of imports that a package belongs to; empty if unknown."""
    if package == "__future__":
        return "future"
    if package in sys.stdlib_module_names:
        return "standard"
    return "library" if package in KNOWN_PACKAGES else ""


def _line(text: str) -> cst.SimpleStatementLine:
    return cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine)


def _apart(statements: list[AnyNode], above: Sequence[cst.CSTNode]) -> list[AnyNode]:
    """Return statements with an empty line above the first, if other statements stand above."""
    if not (statements and above):
        return statements
    first, *others = statements
    return [first.with_changes(leading_lines=[cst.EmptyLine(indent=False)]), *others]
