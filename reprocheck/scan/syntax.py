"""Look at single syntax nodes: parts of calls, assignments and classes, the guard of a program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from reprocheck.scan.index import of_kind, within
from reprocheck.scan.names import last_word
from reprocheck.scan.steps import Step

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


Item = TypeVar("Item")


def owner(node: ast.AST | None) -> ast.expr | None:
    """Return the object of a method call: `rows` of `rows.sort()`; None for any other node."""
    match node:
        case ast.Call(func=ast.Attribute(value=whole)):
            return whole
    return None


def method(node: ast.AST | None) -> str:
    """Return the name of a called method: `sort` of `rows.sort()`; "" for any other node."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def word(node: ast.AST | None) -> str:
    """Return the last part of the called name: `sort` of `sort(rows)`; "" if there is no call."""
    match node:
        case ast.Call(func=function):
            return last_word(function)
    return ""


def decorator(node: ast.expr) -> str:
    """Return the last part of the name of a decorator, called or not."""
    return last_word(getattr(node, "func", node))


def given(node: ast.AST | None) -> list[ast.expr]:
    """Return the arguments of a call, by position and then by keyword."""
    match node:
        case ast.Call(args=arguments, keywords=keywords):
            return [*arguments, *(keyword.value for keyword in keywords)]
    return []


def targets(statement: ast.AST | None) -> list[ast.expr]:
    """Return the targets of an assignment with `=`; none for any other statement."""
    match statement:
        case ast.Assign(targets=assigned):
            return assigned
        case ast.AnnAssign(target=target, value=ast.expr()):
            return [target]
    return []


def changed(statement: ast.AST | None) -> list[ast.expr]:
    """Return the targets of an assignment with `=`, `+=` or the like; none for other statements."""
    match statement:
        case ast.AugAssign(target=target):
            return [target]
    return targets(statement)


def called(module: Module, around: ast.AST | None) -> Iterator[str]:
    """Yield the dotted name of each call inside of a node; "" if a call has none."""
    for call in within(around, ast.Call):
        yield module.name_of(call.func)


def attributes(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the attribute names among nodes: `weight` for `self.weight`; skip other nodes."""
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def variables(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the variable names among nodes; other nodes are skipped."""
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def methods(node: ast.ClassDef) -> set[str]:
    """Return the names of the methods in the body of a class."""
    return {one.name for one in of_kind(node.body, ast.FunctionDef)}


def comparisons(step: Step) -> Iterator[ast.Compare]:
    """Return the comparisons in the function around a step; none at the top level."""
    return within(step.module.function_of(step.node), ast.Compare)


def is_method_call(node: ast.AST | None) -> bool:
    """Return whether a node is a method call, as `rows.sort()`."""
    return owner(node) is not None


def is_read(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    """Return whether a variable, attribute or item is read, and not assigned or deleted."""
    return isinstance(node.ctx, ast.Load)


def are_all(items: Iterable[Item], holds: Callable[[Item], bool]) -> bool:
    """Return whether `holds` is true of all items, and there is at least one item."""
    answers = set(map(holds, items))
    return answers == {True}


def holds_none(test: ast.AST) -> bool:
    """Return whether the constant `None` occurs in an expression."""
    return any(part.value is None for part in within(test, ast.Constant))


def is_guard(statement: ast.AST) -> bool:
    """Return whether a statement is `if __name__ == "__main__":`."""
    if not isinstance(statement, ast.If):
        return False
    names = {name.id for name in within(statement.test, ast.Name)}
    constants = {constant.value for constant in within(statement.test, ast.Constant)}
    return "__name__" in names and "__main__" in constants
