"""Sequences whose order nobody looks at: names that are only asked for, results that are thrown
away, orders that are not used.
"""

from __future__ import annotations

import ast

from reprocheck.scan.index import within
from reprocheck.scan.names import last_word
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Derived, Items, Value

_FRESH = frozenset({"list", "sorted", "arange"})
"""Calls that make a list which nobody else holds."""

_POOLS = frozenset({"map", "imap", "imap_unordered", "starmap", "starmap_async", "map_async"})
_WRAPPERS = frozenset({"enumerate", "list", "tuple", "tqdm", "track", "iter"})


def is_only_asked(step: Step) -> bool:
    """`names = list(...)`, and all that the function or module does with them is `x in names`."""
    module = step.module
    name = _assigned_name(module.parent(step.node))
    if name is None:
        return False
    function = module.function_of(step.node)
    if function is None and _is_imported(module, name):
        return False
    loads = _loads(function or module.tree, name)
    return bool(loads) and all(_is_asked(module.parent(load), load) for load in loads)


def _assigned_name(statement: ast.AST | None) -> str | None:
    """The name to which a statement assigns, if it is the only one."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _is_asked(parent: ast.AST | None, name: ast.Name) -> bool:
    """`x in names`."""
    match parent:
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn(), *_]):
            return left is not name
    return False


def is_of_one(step: Step) -> bool:
    """`list(names)[0]` in a function that asks whether `len(names)` is 1."""
    node = step.node
    function = step.module.function_of(node)
    is_indexed = isinstance(step.module.parent(node), ast.Subscript)
    if function is None or not is_indexed or not isinstance(node, ast.Call) or not node.args:
        return False
    length = f"len({ast.unparse(node.args[0])})"
    return any(_asks_for_one(one, length) for one in within(function, ast.Compare))


def _asks_for_one(comparison: ast.Compare, length: str) -> bool:
    """`len(names) == 1`, `len(names) < 2`."""
    match comparison.comparators[0]:
        case ast.Constant(value=1 | 2):
            return ast.unparse(comparison.left) == length
    return False


def is_thrown_away(module: Module, node: ast.AST) -> bool:
    """Whether what an expression gives is gone over by a loop that never reads it: `for _ in
    enumerate(pool.imap(...)): bar.update()`. Where it is counted, the number may be read.
    """
    counted = False
    loop = module.parent(node)
    while isinstance(loop, ast.Call) and node in loop.args and last_word(loop.func) in _WRAPPERS:
        counted = counted or last_word(loop.func) == "enumerate"
        node, loop = loop, module.parent(loop)
    if not isinstance(loop, ast.For) or loop.iter is not node:
        return False
    target: ast.expr = loop.target
    if counted and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    given = {name.id for name in within(target, ast.Name)}
    read = {name.id for name in within([*loop.body, *loop.orelse], ast.Name)}
    return bool(given) and given.isdisjoint(read)


def is_each_by_itself(call: Call) -> bool:
    """Whether a pool is given the elements one by one, and what comes back is thrown away."""
    if call.own or call.method not in _POOLS or call.name.startswith("builtins."):
        return False
    stands_alone = isinstance(call.module.parent(call.node), ast.Expr)
    return stands_alone or is_thrown_away(call.module, call.node)


def is_paired_with_constants(call: Call) -> bool:
    """`zip(names, len(names) * [rate])`: each gets the same, whatever its place."""
    if call.name != "builtins.zip" or len(call.arguments) < 2:
        return False
    varying = [one for one in call.arguments if not _is_repeated(one)]
    return len(varying) == 1


def _is_repeated(value: Value) -> bool:
    """`[x] * count`, `repeat(x)`."""
    if isinstance(value, Derived) and value.kind == "Mult":
        return any(_is_list_of_one(part) for part in value.parts)
    return value.made_by("itertools.repeat") is not None


def _is_list_of_one(value: Value) -> bool:
    match value:
        case Items(kind="list" | "tuple", items=[_]):
            return True
    return False


def is_order_unused(shuffle: Call) -> bool:
    """`shuffle(places)` of a list of the function's own that is not read any more."""
    module, node = shuffle.module, shuffle.node
    if shuffle.method != "shuffle" or not isinstance(module.parent(node), ast.Expr):
        return False
    match node:
        case ast.Call(args=[ast.Name() as shuffled]):
            function = module.function_of(node)
        case _:
            return False
    if function is None:
        return False
    others = [name for name in _named(function, shuffled.id) if name is not shuffled]
    return bool(others) and all(_is_made(module, name) for name in others)


def _is_made(module: Module, name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store) and _is_fresh(module.parent(name))


def _is_fresh(statement: ast.AST | None) -> bool:
    """Whether an assignment makes a list that nobody else holds."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return False
    value = statement.value
    if isinstance(value, ast.Call):
        return last_word(value.func) in _FRESH
    return isinstance(value, ast.List | ast.ListComp)


def _is_imported(module: Module, name: str) -> bool:
    """Whether another module takes a variable of this one."""
    return any(f"{module.name}.{name}" in other.imported_names for other in module.project)


def _named(around: ast.AST, name: str) -> list[ast.Name]:
    """Where a name stands."""
    return [part for part in within(around, ast.Name) if part.id == name]


def _loads(around: ast.AST, name: str) -> list[ast.Name]:
    """Where a name is read."""
    return [part for part in _named(around, name) if isinstance(part.ctx, ast.Load)]
