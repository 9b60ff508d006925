"""What calls and assignments look like in the text: what several checks ask of a node."""

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
    """Return what a method is called on: `rows` of `rows.sort()`; None where no method is
    called.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=whole)):
            return whole
    return None


def method(node: ast.AST | None) -> str:
    """`sort` of `rows.sort()`; "" where no method is called."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def word(node: ast.AST | None) -> str:
    """Return the last part of the name of what a call calls: `sort` also of `sort(rows)`; "" of
    what is no call.
    """
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
    """Return what an assignment with `=` assigns to; nothing of another statement."""
    match statement:
        case ast.Assign(targets=assigned):
            return assigned
        case ast.AnnAssign(target=target, value=ast.expr()):
            return [target]
    return []


def changed(statement: ast.AST | None) -> list[ast.expr]:
    """Return what an assignment assigns to, with `=` or with `+=` and its like."""
    match statement:
        case ast.AugAssign(target=target):
            return [target]
    return targets(statement)


def called(module: Module, around: ast.AST | None) -> Iterator[str]:
    """Yield the names of what is called in a node; "" for what has none."""
    for call in within(around, ast.Call):
        yield module.name_of(call.func)


def attributes(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of those nodes that are attributes: `weight` of `self.weight`."""
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def variables(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the names of those nodes that are variables."""
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def methods(node: ast.ClassDef) -> set[str]:
    """Return the names of the methods in the body of a class."""
    return {one.name for one in of_kind(node.body, ast.FunctionDef)}


def comparisons(step: Step) -> Iterator[ast.Compare]:
    """Return the comparisons in the function around a step; none at the top level."""
    return within(step.module.function_of(step.node), ast.Compare)


def is_method_call(node: ast.AST | None) -> bool:
    """Return whether a node is the call of a method."""
    return owner(node) is not None


def is_read(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    """Return whether a variable, attribute or item is read, and not assigned or deleted."""
    return isinstance(node.ctx, ast.Load)


def are_all(items: Iterable[Item], holds: Callable[[Item], bool]) -> bool:
    """Return whether there are items, and all of them are of a kind."""
    answers = set(map(holds, items))
    return answers == {True}


def holds_none(test: ast.AST) -> bool:
    """Return whether `None` stands in an expression."""
    return any(part.value is None for part in within(test, ast.Constant))
