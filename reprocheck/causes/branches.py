"""Branches and loops that the clock or the system decides, in a syntax tree.

`if time.time() % 2 < 1`, `while time.monotonic() < end`, `if lucky` where entropy made that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

Source = Callable[[ast.AST], str]
"""The dotted name of what a call reads or draws from; "" for any other expression."""
Held = dict[str, str]
"""Variables and attributes that hold what was read or drawn, each with the name of the call."""

_DEEPEST = 3
"""Assignments followed one behind the other: from a start to the time spent, to whether it is
late.
"""
_CONVERT = ("int", "float", "round", "bool", "abs", "min", "max", "int.from_bytes")
_TELLING = frozenset(
    [
        "print",
        "debug",
        "info",
        "warning",
        "log",
        "write",
        "set_postfix",
        "set_description",
        "flush",
        "append",
        "format",
        "update",
    ]
)
"""Calls that change nothing of a training: a branch that holds no others is for show."""
_DECIDING = (ast.Continue, ast.Break, ast.Return, ast.Raise)
_ASSIGNED = ast.Assign | ast.AnnAssign | ast.AugAssign
_BRANCH = ast.If | ast.While | ast.IfExp
_PASSES = ast.BinOp | ast.BoolOp | ast.UnaryOp | ast.Compare | ast.Attribute | ast.Subscript
"""Expressions that are made of the values in them."""


def decided(tree: ast.AST, source: Source) -> Iterator[tuple[str, int]]:
    """What decides, and the line, of each test that such a call decides.

    Branches that only tell something are left out.
    """
    held = _values(tree, source)
    for node in ast.walk(tree):
        if not isinstance(node, _BRANCH):
            continue
        name = _read(node.test, held, source)
        if name and not _is_for_show(node, held, source):
            yield name, node.lineno


def _values(tree: ast.AST, source: Source) -> Held:
    held: Held = {}
    assigned = [node for node in ast.walk(tree) if isinstance(node, _ASSIGNED)]
    for _ in range(_DEEPEST):
        for node in assigned:
            name = _read(node.value, held, source) if node.value is not None else ""
            if name:
                held |= dict.fromkeys(_targets(node), name)
    return held


def _targets(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [ast.unparse(one) for one in targets if isinstance(one, ast.Name | ast.Attribute)]


def _read(expression: ast.AST, held: Held, source: Source) -> str:
    """The call that an expression is made of: not through the arguments of other calls."""
    if isinstance(expression, ast.Call):
        passed = expression.args if ast.unparse(expression.func) in _CONVERT else []
        return source(expression) or _first_read(passed, held, source)
    if isinstance(expression, ast.Name | ast.Attribute) and ast.unparse(expression) in held:
        return held[ast.unparse(expression)]
    if isinstance(expression, _PASSES):
        return _first_read(list(ast.iter_child_nodes(expression)), held, source)
    return ""


def _first_read(parts: list[ast.expr] | list[ast.AST], held: Held, source: Source) -> str:
    return next((name for part in parts if (name := _read(part, held, source))), "")


def _is_for_show(node: ast.If | ast.While | ast.IfExp, held: Held, source: Source) -> bool:
    """Whether a branch only tells something, or keeps a value for the next one."""
    if not isinstance(node, ast.If):
        return False
    return all(_tells(statement, held, source) for statement in (*node.body, *node.orelse))


def _tells(statement: ast.stmt, held: Held, source: Source) -> bool:
    if any(isinstance(part, _DECIDING) for part in ast.walk(statement)):
        return False
    if isinstance(statement, ast.Assign) and _read(statement.value, held, source):
        return True
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return isinstance(statement, ast.Pass)
    called = statement.value.func
    name = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
    return name in _TELLING
