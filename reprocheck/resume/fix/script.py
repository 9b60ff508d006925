"""A script as a tree: what its names stand for, and what its parts stand in."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from reprocheck.scan.index import Index, within
from reprocheck.scan.names import Names
from reprocheck.scan.syntax import word

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.Module
OWN = "script"
"""The module that functions and classes of the script are in: `script.Net`."""


@dataclass(frozen=True, slots=True)
class Made:
    """An assignment of a call's result to a name.

    `maker`: the dotted name of the innermost function called.
    """

    name: str
    maker: str
    call: ast.Call
    statement: ast.Assign


class Script:
    """The parts of a script. Raises SyntaxError, ValueError, RecursionError."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self.index = Index(self.tree)
        self.names = Names(self.tree, OWN)

    @cached_property
    def words(self) -> frozenset[str]:
        """All names that occur in the script."""
        names = {node.id for node in self.index.of(ast.Name)}
        return frozenset(names | {node.arg for node in self.index.of(ast.arg)})

    @cached_property
    def called(self) -> frozenset[str]:
        """The functions that are called anywhere, as they are written."""
        return frozenset(ast.unparse(call.func) for call in self.index.calls)

    @cached_property
    def made(self) -> tuple[Made, ...]:
        """All assignments of a call's result to a name."""
        return tuple(
            Made(ast.unparse(node.targets[0]), self._maker(node.value), node.value, node)
            for node in self.index.of(ast.Assign)
            if isinstance(node.value, ast.Call)
        )

    def _maker(self, call: ast.Call) -> str:
        """Return the name of the innermost call: `torch.nn.Linear` of `nn.Linear(8, 1).cuda()`."""
        function: ast.expr = call.func
        while isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
            function = function.value.func
        return self.name_of(function) or ast.unparse(function)

    def name_of(self, node: ast.AST) -> str:
        """Return the dotted name of an expression, imports resolved.

        "" if the expression has none.
        """
        return self.names.of(node) or ""

    def holder(self, node: ast.AST) -> ast.AST:
        """Return the syntax node that directly contains a node."""
        return self.index.parents.get(id(node), self.tree)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the syntax nodes that contain a node, from the innermost to the module."""
        while node is not self.tree:
            node = self.holder(node)
            yield node

    def scope(self, node: ast.AST) -> Scope:
        """Return the function that a node stands in, or the module."""
        return next(one for one in self.around(node) if isinstance(one, Scope))

    def is_known(self, name: str, scope: Scope) -> bool:
        """Return whether a name is bound in a scope or around it."""
        inside = next(within(scope.body, ast.Name), scope)
        return any(name in one.bound for one in self.names.scope_of(inside).outward())

    def calls_of(self, function: Scope) -> tuple[ast.Call, ...]:
        """Return the calls of a function by its name, or of a method by `self.NAME`."""
        names = {getattr(function, "name", ""), "self." + getattr(function, "name", "")}
        return tuple(call for call in self.index.calls if ast.unparse(call.func) in names)


def calls(node: ast.AST, names: Collection[str]) -> bool:
    """Return whether a node calls something of these names: `backward` of `loss.backward()`."""
    return any(word(call) in names for call in within(node, ast.Call))
