"""Seeding lines for draws that no seed reaches: beside the program's own seed, else below the
imports at the top.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from reprocheck.scan.aliases import canonical
from reprocheck.scan.checks import tables
from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.tree import (
    Edit,
    Tree,
    inside,
    is_none,
    is_open,
    keyword,
    positional,
    with_keyword,
    with_value,
    written,
)

Statement = TypeVar("Statement", bound=cst.CSTNode)


@dataclass(frozen=True, slots=True)
class Seeder:
    """What seeds a stream: the module that must be imported, the function in it, and the number to
    take where the program has none.
    """

    module: str
    function: str
    number: str = "0"


SEEDERS = {
    "Python's random": Seeder("random", "seed"),
    "NumPy": Seeder("numpy", "random.seed"),
    "torch": Seeder("torch", "manual_seed"),
    "the accelerator's generator": Seeder("torch", "manual_seed"),
    "MindSpore": Seeder("mindspore", "set_seed", "1"),
    "MindSpore's data pipeline": Seeder("mindspore", "set_seed", "1"),
    "TensorFlow": Seeder("tensorflow", "random.set_seed"),
    "Keras": Seeder("keras", "utils.set_random_seed"),
}
"""By the title of a stream."""
_ENVIRONMENT = frozenset({"environ", "putenv"})
PLAIN_KEYWORDS = ("random_state", "seed")
"""Keywords of calls that take a number as their seed."""
_OF_TENSORFLOW = Seeder("tensorflow", "keras.utils.set_random_seed")
"""What seeds Keras in a program that has it from TensorFlow, which may be another one than the
package `keras`.
"""
_CHANGING = (cst.Call, cst.Await, cst.Lambda, cst.NamedExpr, cst.Yield)
"""What an expression must not hold that is written down a second time."""


def seeded(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """A seed for a stream: below the call by which the program seeds another one, with the same
    number, else at its top.
    """
    evidence = finding.evidence
    word = evidence.get("seed_keyword")
    if word in PLAIN_KEYWORDS:
        return with_seed(tree, finding, word)
    seeder = SEEDERS.get(evidence.get("stream", ""))
    if seeder is None:
        return None
    if seeder.module == "keras" and _has_keras_from_tensorflow(tree):
        seeder = _OF_TENSORFLOW
    if not can_bind(tree, seeder.module):
        return None
    beside = evidence.get("seed_beside")
    line = int(beside or evidence.get("seed_above") or "0")
    if not 0 < line <= len(tree.lines) or tree.lines[line - 1] != evidence.get("seed_text"):
        return None
    if beside:
        return _beside(tree, line, seeder)
    value = evidence.get("seed_number", seeder.number)
    if seeder.module == "mindspore" and value == "0":
        value = seeder.number
    return Edit(heads=((seeder.module, f"{seeder.function}({value})"),), line=line)


def with_seed(tree: Tree, finding: Finding, word: str) -> Edit | None:
    """`random_state=0` for a call that takes one under this keyword."""
    call = tree.at(finding, cst.Call)
    if call is None or is_open(call):
        return None
    given = keyword(call, word)
    if given is None:
        return Edit(changes=((call, lambda node: with_keyword(node, word, "0")),))
    return Edit(changes=(with_value(given, "0"),)) if is_none(given.value) else None


def _beside(tree: Tree, line: int, seeder: Seeder) -> Edit | None:
    """A line below the call in a line that seeds another stream, with its number."""
    call = _seeding_in(tree, line)
    if call is None:
        return None
    given = _number(tree, call)
    if given is None or any(isinstance(part, _CHANGING) for part in inside(given)):
        return None
    statement = tree.statement_of(call)
    if statement is None:
        return None
    name = bound_as(tree.module.body, seeder.module) or seeder.module
    text = f"{name}.{seeder.function}({tree.module.code_for_node(given)})"
    return Edit(below=((statement, text),), imports=(seeder.module,), line=line)


def _seeding_in(tree: Tree, line: int) -> cst.Call | None:
    """The call in a line that seeds."""
    for call in tree.every(cst.Call):
        if tree.line(call) == line and is_seeding(tree, call):
            return call
    return None


def is_seeding(tree: Tree, call: cst.Call) -> bool:
    """Whether a call seeds a stream of its own or of a library."""
    return canonical(tree.name(call.func)) in tables.seeds()


def _number(tree: Tree, call: cst.Call) -> cst.BaseExpression | None:
    """The number that a seeding call is given; None where it is not in plain sight."""
    known = tables.seeds().get(canonical(tree.name(call.func)))
    if known is None or is_open(call):
        return None
    given = keyword(call, known.keyword) or next(iter(positional(call)), None)
    if given is None or is_none(given.value):
        return None
    return given.value


def _has_keras_from_tensorflow(tree: Tree) -> bool:
    """Whether a program imports Keras from TensorFlow, and not the package `keras`."""
    roots: set[str] = set()
    for node in _imports_of(tree):
        roots |= _roots(node)
    return "tensorflow" in roots and "keras" not in roots


def _imports_of(tree: Tree) -> list[cst.Import | cst.ImportFrom]:
    return [*tree.every(cst.Import), *tree.every(cst.ImportFrom)]


def _roots(node: cst.Import | cst.ImportFrom) -> set[str]:
    """The packages from which an import takes something."""
    if isinstance(node, cst.Import):
        return {one.evaluated_name.partition(".")[0] for one in node.names}
    if node.module is None:
        return set()
    return {written(node.module).partition(".")[0]}


def with_generator(tree: Tree, call: cst.Call) -> Edit | None:
    """`generator=torch.Generator().manual_seed(0)` for a loader."""
    if is_open(call) or not can_bind(tree, "torch"):
        return None
    root = bound_as(tree.module.body, "torch") or "torch"
    value = f"{root}.Generator().manual_seed(0)"
    given = keyword(call, "generator")
    if given is None:
        added = (call, lambda node: with_keyword(node, "generator", value))
        return Edit(changes=(added,), imports=("torch",))
    if not is_none(given.value):
        return None
    return Edit(changes=(with_value(given, value),), imports=("torch",))


def can_bind(tree: Tree, module: str) -> bool:
    """Whether a module can be used at the top: it is imported there, or its name is free and it may
    be imported there.
    """
    if bound_as(tree.module.body, module) is not None:
        return True
    if any(one.value in _ENVIRONMENT for one in tree.every(cst.Name)):
        # what a library reads as it is imported may be set before the import that the program has
        return False
    if tree.binds(module):
        return False
    return not any(_takes(node, module) for node in _imports_of(tree))


def _takes(node: cst.Import | cst.ImportFrom, name: str) -> bool:
    """`from numpy import random` takes the name `random`, and `import pandas as numpy` that of
    NumPy.
    """
    if isinstance(node.names, cst.ImportStar):
        return False
    names = {one.evaluated_alias for one in node.names}
    if isinstance(node, cst.ImportFrom):
        names |= {one.evaluated_name for one in node.names if not one.evaluated_alias}
    return name in names


def bound_as(statements: Sequence[cst.CSTNode], module: str) -> str | None:
    """What these statements let one write for a module: `np` for `import numpy as np`, `tf.keras`
    for `import tensorflow as tf`.
    """
    for statement in statements:
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for small in statement.body:
            name = _bound(small, module)
            if name is not None:
                return name
    if module != "keras":
        return None
    root = bound_as(statements, "tensorflow")
    return None if root is None else f"{root}.keras"


def _bound(small: cst.BaseSmallStatement, module: str) -> str | None:
    """What an import lets one write for a module."""
    if isinstance(small, cst.ImportFrom):
        return _keras_of_tensorflow(small) if module == "keras" else None
    if not isinstance(small, cst.Import):
        return None
    for one in small.names:
        if one.evaluated_name == module and one.evaluated_alias:
            return one.evaluated_alias
        if one.evaluated_alias is None and one.evaluated_name.partition(".")[0] == module:
            return module
    return None


def _keras_of_tensorflow(node: cst.ImportFrom) -> str | None:
    """`from tensorflow import keras`."""
    if node.module is None or written(node.module) != "tensorflow":
        return None
    if isinstance(node.names, cst.ImportStar):
        return None
    for one in node.names:
        if one.evaluated_name == "keras":
            return one.evaluated_alias or "keras"
    return None


def place(tree: Tree, before: int) -> int:
    """How many statements of the module stand above the seeding lines: those up to the last import
    of its head, all above a line.
    """
    index = 0
    for number, statement in enumerate(tree.module.body):
        if tree.last_line(statement) >= before:
            break
        if _imports(statement) or (number == 0 and _is_docstring(statement)):
            index = number + 1
        elif not isinstance(statement, cst.SimpleStatementLine):
            break
    return index


def _imports(statement: cst.CSTNode) -> bool:
    """An import, or `try` and `if` around imports alone."""
    if isinstance(statement, cst.SimpleStatementLine):
        return any(isinstance(small, cst.Import | cst.ImportFrom) for small in statement.body)
    if not isinstance(statement, cst.If | cst.Try):
        return False
    lines = statement.body.body
    simple = all(isinstance(line, cst.SimpleStatementLine) for line in lines)
    return bool(lines) and simple and all(map(_imports, lines))


def _is_docstring(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=value), *_]):
            return isinstance(value, cst.SimpleString | cst.ConcatenatedString)
    return False


def headed(
    module: cst.Module, index: int, imports: Collection[str], heads: Sequence[tuple[str, str]]
) -> cst.Module:
    """The module with imports that it lacks and lines after its first statements, each a module and
    what is called in it.
    """
    above, below = module.body[:index], list(module.body[index:])
    wanted = dict.fromkeys([*imports, *(name for name, _ in heads)])
    missing = [name for name in wanted if bound_as(above, name) is None]
    calls = dict.fromkeys(f"{bound_as(above, name) or name}.{call}" for name, call in heads)
    new_imports = [_line(f"import {name}") for name in missing]
    new_lines = [_line(call) for call in calls]
    if new_lines and (above or new_imports):
        new_lines[0] = _apart(new_lines[0])
    ends_with_imports = bool(new_imports) and not new_lines
    if below and ends_with_imports and not above:
        below[0] = _apart(below[0])
    return module.with_changes(body=[*above, *new_imports, *new_lines, *below])


def _line(text: str) -> cst.SimpleStatementLine:
    return cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine)


def _apart(statement: Statement) -> Statement:
    """A statement with an empty line above it."""
    return statement.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
