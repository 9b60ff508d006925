"""What a line of the user's is fed by: the statements that assign or change what it reads, in its
function, its class and its file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

DEEPEST = 3
"""Assignments followed one behind the other."""


class _Step(NamedTuple):
    """A statement, or the head of one that holds others: its lines, the names that it assigns, that
    it reads, and that it may change.
    """

    first: int
    last: int
    assigns: frozenset[str]
    reads: frozenset[str]
    changes: frozenset[str] = frozenset()


def feeding(tree: ast.Module, line: int) -> list[range]:
    """The lines of the statement on a line and of those that feed it, the nearest first; none where
    nothing stands there.
    """
    scopes = _scopes(tree, line)
    here = [step for step in _steps(scopes[0]) if step.first <= line <= step.last]
    if not here:
        return []
    found = [min(here, key=lambda step: step.last - step.first)]
    newest = found
    for _ in range(DEEPEST):
        newest = [
            step
            for read in newest
            for name in sorted(read.reads)
            for step in _assigning(scopes, name)
            if step not in found
        ]
        found += dict.fromkeys(newest)
    return [range(step.first, step.last + 1) for step in found]


def function(tree: ast.Module, line: int) -> range:
    """The lines of the innermost function around a line; none where it stands in no function."""
    inside = [
        scope
        for scope in _scopes(tree, line)
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return (
        range(inside[0].lineno, (inside[0].end_lineno or inside[0].lineno) + 1)
        if inside
        else range(0)
    )


def _scopes(tree: ast.Module, line: int) -> list[ast.AST]:
    """The functions and classes around a line, the innermost first, and the file."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return [*sorted(around, key=lambda node: -node.lineno), tree]


def _assigning(scopes: list[ast.AST], name: str) -> list[_Step]:
    """The statements that assign a name, or call a method of what it names, in the innermost scope
    that assigns it.

    An attribute of `self` anywhere in the class.
    """
    for scope in scopes:
        steps = list(_steps(scope, inside=name.startswith("self.")))
        if any(name in step.assigns for step in steps):
            return [step for step in steps if name in step.assigns or name in step.changes]
    return []


def _steps(scope: ast.AST, *, inside: bool = False) -> Iterator[_Step]:
    """The statements of a scope; of functions within it only where they are looked into."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if inside:
                yield from _steps(node, inside=True)
        elif isinstance(node, ast.For | ast.AsyncFor):
            yield _Step(
                node.lineno,
                node.iter.end_lineno or node.lineno,
                _names(node.target),
                _names(node.iter),
            )
            yield from _steps(node, inside=inside)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    yield _Step(
                        node.lineno,
                        node.lineno,
                        _names(item.optional_vars),
                        _names(item.context_expr),
                    )
            yield from _steps(node, inside=inside)
        elif isinstance(
            node, ast.If | ast.While | ast.Try | ast.ExceptHandler | ast.Match | ast.match_case
        ):
            yield from _steps(node, inside=inside)
        elif isinstance(node, ast.stmt):
            targets, value = _sides(node)
            assigned = frozenset(name for target in targets for name in _names(target))
            yield _Step(
                node.lineno, node.end_lineno or node.lineno, assigned, _names(value), _changed(node)
            )


def _sides(node: ast.stmt) -> tuple[list[ast.expr], ast.AST]:
    if isinstance(node, ast.Assign):
        return node.targets, node.value
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return [node.target], node.value
    if isinstance(node, ast.AugAssign):
        return [node.target], node
    return [], node


def _changed(node: ast.stmt) -> frozenset[str]:
    """What a statement may change that calls a method for no result:
    `generator.manual_seed(seed)`.
    """
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
    ):
        return _names(node.value.func.value)
    return frozenset()


def _names(node: ast.AST) -> frozenset[str]:
    """Names in an expression, and attributes of `self` as `self.rng`."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    found |= {
        f"self.{one.attr}"
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self"
    }
    return frozenset(found - {"self"})
