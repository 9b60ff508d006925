"""Find sequences whose order does not matter.

Nothing but membership is asked, or the result is thrown away.
"""

from __future__ import annotations

import ast
from functools import partial
from itertools import takewhile

from reprocheck.scan import syntax
from reprocheck.scan.index import within
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Derived, Items, Value
from reprocheck.scan.vocabulary import words

_FRESH = words("orders", "fresh")

_POOLS = words("orders", "pools")
_WRAPPERS = words("orders", "wrappers")


def is_unread(step: Step) -> bool:
    """Return whether nothing reads the order of a sequence that a step makes."""
    ways = (is_only_asked, is_only_told, is_of_one, is_thrown_away)
    return any(holds(step) for holds in ways)


def is_only_asked(step: Step) -> bool:
    """Return whether the variable of `names = list(...)` is only asked for its length.

    Or for membership, in the function or module where it is assigned.
    """
    match step.parent, step.statement:
        case (ast.Assign() | ast.IfExp(), ast.Assign(targets=[ast.Name(id=name)])):
            return syntax.are_all(_loads(step, name), partial(is_asked, step.module))
        case (ast.NamedExpr(target=ast.Name(id=name)) as around, _):
            read = [around, *_loads(step, name)]
            return syntax.are_all(read, partial(is_asked, step.module))
    return False


def is_asked(module: Module, node: ast.AST) -> bool:
    """Return whether an expression is only asked for emptiness, membership, or length."""
    match module.parent(node):
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn(), *_]):
            return left is not node
        case (
            ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test)
        ):
            return test is node
        case ast.comprehension(ifs=tests):
            return node in tests
        case ast.BoolOp() as around:
            return is_asked(module, around)
        case ast.Call(func=ast.Name(id="len" | "bool")) | ast.UnaryOp(op=ast.Not()):
            return True
    return False


def is_only_told(step: Step) -> bool:
    """Return whether the variable of `names = {...}` is only printed in its function or module."""
    match syntax.targets(step.statement):
        case [ast.Name(id=name)]:
            return syntax.are_all(_loads(step, name), partial(_is_printed, step.module))
    return False


def _is_printed(module: Module, name: ast.Name) -> bool:
    return any(syntax.word(one) in _TELLS for one in module.expressions_around(name))


def is_of_one(step: Step) -> bool:
    """Return whether one element is taken of a list that is asked to have a single one.

    `list(names)[0]` beside `len(names) == 1`
    """
    match step.parent, step.node:
        case ast.Subscript(), ast.Call(args=[first, *_]):
            length = f"len({ast.unparse(first)})"
            return any(_asks_for_one(one, length) for one in syntax.comparisons(step))
    return False


def _asks_for_one(comparison: ast.Compare, length: str) -> bool:
    """Return whether a comparison asks for one element: `len(names) == 1` or `< 2`."""
    match comparison:
        case ast.Compare(left=asked, comparators=[ast.Constant(value=1 | 2), *_]):
            return ast.unparse(asked) == length
    return False


def is_thrown_away(step: Step) -> bool:
    """Return whether a loop over an expression never reads the elements.

    `for _ in enumerate(pool.imap(...)): bar.update()`

    The loop may read the numbers that `enumerate` adds.
    """
    module, node = step.module, step.node
    wrappers = list(takewhile(lambda one: syntax.word(one) in _WRAPPERS, module.around(node)))
    outermost = [node, *wrappers][-1]
    match module.parent(outermost):
        case ast.Expr():
            return isinstance(node, ast.Call) and bool(wrappers)
        case ast.For(iter=gone_over) as loop if gone_over is outermost:
            is_counted = "enumerate" in map(syntax.word, wrappers)
            given = within(_elements(loop.target, counted=is_counted), ast.Name)
            read = within([*loop.body, *loop.orelse], ast.Name)
            names = set(syntax.variables(given))
            return bool(names) and names.isdisjoint(syntax.variables(read))
    return False


def _elements(target: ast.expr, *, counted: bool) -> ast.expr:
    """Return the loop variable of the elements, without the number of `enumerate` if `counted`."""
    match target:
        case ast.Tuple(elts=[_, element]) if counted:
            return element
    return target


def is_each_by_itself(call: Step) -> bool:
    """Return whether a pool gets the elements one by one, and its results are thrown away."""
    if call.library_method not in _POOLS or call.called.startswith("builtins."):
        return False
    return isinstance(call.parent, ast.Expr) or is_thrown_away(call)


def is_paired_with_constants(call: Call) -> bool:
    """Return whether `zip` pairs names with a constant, as `zip(names, len(names) * [rate])`.

    The position of a name then does not matter.
    """
    if call.name != "builtins.zip" or len(call.arguments) < 2:
        return False
    varying = [one for one in call.arguments if not _is_repeated(one)]
    return len(varying) == 1


def is_only_counted(call: Call) -> bool:
    """Return whether the number in `for number, name in enumerate(names)` decides nothing.

    It is only printed or taken modulo another number.
    """
    match call.name, call.parent:
        case (
            "builtins.enumerate",
            ast.For(target=ast.Tuple(elts=[ast.Name(id=number), _])) as loop,
        ):
            read = (part for part in within(loop.body, ast.Name) if part.id == number)
            return syntax.are_all(list(read), partial(_is_told, call.module))
    return False


def _is_told(module: Module, number: ast.Name) -> bool:
    """Return whether a number is taken modulo another number, or is printed."""
    around = [number, *module.expressions_around(number)]
    return any(
        (isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod)) or syntax.word(one) in _TELLS
        for one in around
    )


_TELLS = words("orders", "tells")


def _is_repeated(value: Value) -> bool:
    """Return whether a value repeats a single element: `[x] * count`, `repeat(x)`, `cycle([x])`."""
    match value:
        case Derived(kind="Mult", parts=parts):
            return any(map(_is_list_of_one, parts))
    cycle = value.made_by("itertools.cycle")
    if cycle is not None:
        return _is_list_of_one(cycle.first)
    return value.made_by("itertools.repeat") is not None


def _is_list_of_one(value: Value) -> bool:
    match value:
        case Items(kind="list" | "tuple", items=[_]):
            return True
    return False


def is_order_unused(shuffle: Call) -> bool:
    """Return whether `shuffle(places)` shuffles a local list that no later code reads."""
    module, node = shuffle.module, shuffle.node
    function = module.function_of(node)
    stands_alone = isinstance(shuffle.parent, ast.Expr)
    if shuffle.method != "shuffle" or not stands_alone:
        return False
    match node:
        case ast.Call(args=[ast.Name() as shuffled]):
            others = [name for name in _named(function, shuffled.id) if name is not shuffled]
            return syntax.are_all(map(module.parent, others), _is_fresh)
    return False


def _is_fresh(statement: ast.AST | None) -> bool:
    """Return whether an assignment makes a new list, which no other variable holds."""
    match statement:
        case ast.Assign(value=made) | ast.AnnAssign(value=made):
            is_list = isinstance(made, ast.List | ast.ListComp)
            return is_list or syntax.word(made) in _FRESH
    return False


def _named(around: ast.AST | None, name: str) -> list[ast.Name]:
    """Return the nodes of a tree that use a name."""
    return [part for part in within(around, ast.Name) if part.id == name]


def _loads(step: Step, name: str) -> list[ast.Name]:
    """Return the nodes that read a name, in the function around a step or in the module.

    None if another module imports the name.
    """
    module = step.module
    around = module.function_of(step.node) or module.tree
    if around is module.tree and any(
        f"{module.name}.{name}" in other.imported_names for other in module.project
    ):
        return []
    return list(filter(syntax.is_read, _named(around, name)))
