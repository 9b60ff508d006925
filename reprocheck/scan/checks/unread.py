"""Sequences whose order nobody looks at: names that are only asked for, results that are thrown
away, orders that are not used.
"""

from __future__ import annotations

import ast

from reprocheck.scan.names import last_word
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Derived, Items, Value

_POOLS = frozenset({"map", "imap", "imap_unordered", "starmap", "starmap_async", "map_async"})
_WRAPPERS = frozenset({"enumerate", "list", "tuple", "tqdm", "track", "iter"})


def is_only_asked(step: Step) -> bool:
    """`names = list(...)`, and all that the function or module does with them is `x in names`."""
    statement = step.module.parent(step.node)
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.targets[0], ast.Name)
    ):
        return False
    name = statement.targets[0].id
    if step.module.function_of(step.node) is None and _is_imported(step.module, name):
        return False
    parents = [step.module.parent(part) for part in _loads(step.module, step.node, name)]
    return bool(parents) and all(
        isinstance(parent, ast.Compare)
        and isinstance(parent.ops[0], ast.In | ast.NotIn)
        and not _is_name(parent.left, name)
        for parent in parents
    )


def is_of_one(step: Step) -> bool:
    """`list(names)[0]` in a function that asks whether `len(names)` is 1."""
    node, parent = step.node, step.module.parent(step.node)
    around = step.module.function_of(node)
    if (
        not (isinstance(parent, ast.Subscript) and isinstance(node, ast.Call) and node.args)
        or around is None
    ):
        return False
    wanted = ast.unparse(node.args[0])
    return any(
        isinstance(part, ast.Compare)
        and ast.unparse(part.left) == f"len({wanted})"
        and isinstance(part.comparators[0], ast.Constant)
        and part.comparators[0].value in (1, 2)
        for part in ast.walk(around)
    )


def is_thrown_away(module: Module, node: ast.AST) -> bool:
    """Whether what an expression gives is gone over by a loop that never reads it: `for _ in
    enumerate(pool.imap(...)): bar.update()`. Where it is counted, the number may be read.
    """
    counted = False
    parent = module.parent(node)
    while (
        isinstance(parent, ast.Call) and node in parent.args and last_word(parent.func) in _WRAPPERS
    ):
        counted = counted or last_word(parent.func) == "enumerate"
        node, parent = parent, module.parent(parent)
    if not isinstance(parent, ast.For) or parent.iter is not node:
        return False
    target = parent.target
    if counted and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    names = {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    read = (part for statement in [*parent.body, *parent.orelse] for part in ast.walk(statement))
    return bool(names) and not any(isinstance(part, ast.Name) and part.id in names for part in read)


def is_each_by_itself(call: Call) -> bool:
    """Whether a pool is given the elements one by one, and what comes back is thrown away."""
    if call.own or call.method not in _POOLS or call.name.startswith("builtins."):
        return False
    return isinstance(call.module.parent(call.node), ast.Expr) or is_thrown_away(
        call.module, call.node
    )


def is_paired_with_constants(call: Call) -> bool:
    """`zip(names, len(names) * [rate])`: each gets the same, whatever its place."""
    return (
        call.name == "builtins.zip"
        and len(call.arguments) > 1
        and sum(not _is_repeated(one) for one in call.arguments) == 1
    )


def _is_repeated(value: Value) -> bool:
    """`[x] * count`, `repeat(x)`."""
    if isinstance(value, Derived) and value.kind == "Mult":
        return any(
            isinstance(part, Items) and len(part.items) == 1 and part.kind in ("list", "tuple")
            for part in value.parts
        )
    return value.made_by("itertools.repeat") is not None


def is_order_unused(shuffle: Call) -> bool:
    """`shuffle(places)` of a list of the function's own that is not read any more."""
    node = shuffle.node
    around = shuffle.module.function_of(node)
    first = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else None
    if around is None or not isinstance(first, ast.Name) or shuffle.method != "shuffle":
        return False
    named = [
        part
        for part in ast.walk(around)
        if isinstance(part, ast.Name) and part.id == first.id and part is not first
    ]
    made = [part for part in named if isinstance(part.ctx, ast.Store)]
    alone = (
        bool(made)
        and len(made) == len(named)
        and all(_is_fresh(shuffle.module.parent(part)) for part in made)
    )
    return alone and isinstance(shuffle.module.parent(node), ast.Expr)


def _is_fresh(statement: ast.AST | None) -> bool:
    """Whether an assignment makes a list that nobody else holds."""
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.Call):
        return last_word(value.func) in ("list", "sorted", "arange")
    return isinstance(value, ast.List | ast.ListComp)


def _is_imported(module: Module, name: str) -> bool:
    """Whether another module takes a variable of this one."""
    return any(f"{module.name}.{name}" in other.imported_names for other in module.project)


def _loads(module: Module, node: ast.AST, name: str) -> list[ast.Name]:
    around: ast.AST = module.function_of(node) or module.tree
    return [
        part
        for part in ast.walk(around)
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
    ]


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
