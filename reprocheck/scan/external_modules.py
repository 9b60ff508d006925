"""What is read of the modules outside of what was asked: which of their functions seed."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from reprocheck.scan.checks import tables
from reprocheck.scan.index import within
from reprocheck.scan.names import last_word
from reprocheck.scan.values import Place, place

if TYPE_CHECKING:
    from reprocheck.scan.project import Module

_DEPTH = 4
"""Functions that call one another until one of them seeds."""


def seeding(modules: Iterable[Module]) -> frozenset[Place]:
    """Return where the functions stand that seed, themselves or in those that they call, by the
    last parts of the names of what they call.
    """
    called = {
        place(module, function): (_name(module, function), _called(function))
        for module in modules
        for function in module.index.functions
    }
    names = set(tables.last_parts())
    found: dict[Place, str] = {}
    for _ in range(_DEPTH):
        found = {at: name for at, (name, calls) in called.items() if not names.isdisjoint(calls)}
        names.update(found.values())
    return frozenset(found)


def _name(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the name by which a function is called: of a constructor, that of its class."""
    around = module.parent(function)
    if function.name == "__init__" and isinstance(around, ast.ClassDef):
        return around.name
    return function.name


def _called(function: ast.AST) -> frozenset[str]:
    return frozenset(last_word(call.func) for call in within(function, ast.Call))
