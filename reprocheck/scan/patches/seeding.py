"""Seeding lines below the imports at the top, for draws that no seed reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import libcst as cst

from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.tree import Edit, Tree, is_open, keyword, with_keyword, with_value, written

SEEDS = {
    "Python's random": ("random", "random.seed(0)"),
    "NumPy": ("numpy", "numpy.random.seed(0)"),
    "torch": ("torch", "torch.manual_seed(0)"),
    "the accelerator's generator": ("torch", "torch.manual_seed(0)"),
    "MindSpore": ("mindspore", "mindspore.set_seed(1)"),
    "MindSpore's data pipeline": ("mindspore", "mindspore.set_seed(1)"),
    "TensorFlow": ("tensorflow", "tensorflow.random.set_seed(0)"),
    "Keras": ("keras", "keras.utils.set_random_seed(0)"),
}
"""By the title of a stream: the module that must be imported, and the line that seeds it."""


def seeded(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """A seed at the top of the program; in a module that is imported, a generator for a loader."""
    call = tree.at(finding, cst.Call)
    stream = finding.evidence.get("stream", "")
    if call is None or stream not in SEEDS:
        return None
    if not _is_elsewhere(finding):
        return Edit(seeds=(stream,)) if can_bind(tree, SEEDS[stream][0]) else None
    if tree.name(call.func).endswith("DataLoader") and not tree.is_repeated(call):
        return with_generator(tree, call)
    return None


def with_generator(tree: Tree, call: cst.Call) -> Edit | None:
    """`generator=torch.Generator().manual_seed(0)` for a loader."""
    if is_open(call) or not can_bind(tree, "torch"):
        return None
    root = bound_as(tree.module.body, "torch") or "torch"
    value = f"{root}.Generator().manual_seed(0)"
    given = keyword(call, "generator")
    if given is not None:
        change = with_value(given, value)
        return Edit(changes=(change,), imports=("torch",)) if isinstance(given.value, cst.Name) and given.value.value == "None" else None
    return Edit(changes=((call, lambda node: with_keyword(node, "generator", value)),), imports=("torch",))


def _is_elsewhere(finding: Finding) -> bool:
    """Whether the program starts in another module than that of the finding."""
    return bool(finding.through) and finding.through[0].rpartition(":")[0] != finding.path


def can_bind(tree: Tree, module: str) -> bool:
    """Whether the name of a module is free for it in the text: nothing else has it."""
    if bound_as(tree.module.body, module) is not None:
        return True
    imports: list[cst.Import | cst.ImportFrom] = [*tree.every(cst.Import), *tree.every(cst.ImportFrom)]
    return not tree.binds(module) and not any(_takes(node, module) for node in imports)


def _takes(node: cst.Import | cst.ImportFrom, name: str) -> bool:
    """`from numpy import random` takes the name `random`, and `import pandas as numpy` that of NumPy."""
    if isinstance(node.names, cst.ImportStar):
        return False
    for one in node.names:
        if (one.evaluated_alias or one.evaluated_name) == name and (isinstance(node, cst.ImportFrom) or one.evaluated_alias):
            return True
    return False


def bound_as(statements: Sequence[cst.CSTNode], module: str) -> str | None:
    """What these statements let one write for a module: `np` for `import numpy as np`, `tf.keras` for `import tensorflow as tf`."""
    for statement in statements:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.Import | cst.ImportFrom) and (name := _bound(small, module)):
                return name
    root = bound_as(statements, "tensorflow") if module == "keras" else None
    return f"{root}.keras" if root else None


def _bound(small: cst.Import | cst.ImportFrom, module: str) -> str | None:
    if isinstance(small, cst.ImportFrom):
        whole = module == "keras" and small.module is not None and written(small.module) == "tensorflow"
        names = () if isinstance(small.names, cst.ImportStar) or not whole else small.names
        return next((one.evaluated_alias or module for one in names if one.evaluated_name == module), None)
    for one in small.names:
        if one.evaluated_name == module and one.evaluated_alias:
            return one.evaluated_alias
        if one.evaluated_alias is None and one.evaluated_name.partition(".")[0] == module:
            return module
    return None


def place(tree: Tree, before: int) -> int:
    """How many statements of the module stand above the seeding lines: those up to the last import of its head, all above a line."""
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
    if isinstance(statement, cst.If | cst.Try):
        inner = statement.body.body
        return bool(inner) and all(isinstance(one, cst.SimpleStatementLine) and _imports(one) for one in inner)
    return False


def _is_docstring(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


def headed(module: cst.Module, index: int, imports: Collection[str], seeds: Collection[str]) -> cst.Module:
    """The module with imports that it lacks and seeding lines after its first statements."""
    above = module.body[:index]
    wanted = dict.fromkeys([*imports, *(SEEDS[stream][0] for stream in seeds)])
    missing = [name for name in wanted if bound_as(above, name) is None]
    added: list[cst.BaseStatement] = [cst.ensure_type(cst.parse_statement(f"import {name}"), cst.SimpleStatementLine) for name in missing]
    lines = list(dict.fromkeys(_lines(above, seeds)))
    for number, line in enumerate(lines):
        statement = cst.ensure_type(cst.parse_statement(line), cst.SimpleStatementLine)
        leading = [cst.EmptyLine(indent=False)] if number == 0 and (index or added) else []
        added.append(statement.with_changes(leading_lines=leading))
    below = list(module.body[index:])
    if below and added and not lines and not index:
        below[0] = below[0].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return module.with_changes(body=[*above, *added, *below])


def _lines(above: Sequence[cst.CSTNode], seeds: Collection[str]) -> Iterator[str]:
    for stream, (module, line) in SEEDS.items():
        if stream in seeds:
            name = bound_as(above, module) or module
            yield name + line.removeprefix(module)
