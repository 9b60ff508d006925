"""Find which functions in modules outside of the scanned paths seed."""

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
    """Return the places of functions that seed, themselves or through functions that they call, by
    name.
    """
    functions: dict[Place, tuple[str, set[str]]] = {}
    for module in modules:
        for function in module.index.functions:
            name, around = function.name, module.parent(function)
            if name == "__init__" and isinstance(around, ast.ClassDef):
                name = around.name
            called = {last_word(call.func) for call in within(function, ast.Call)}
            functions[place(module, function)] = name, called
    names = set(tables.last_parts())
    seeders: dict[Place, str] = {}
    for _ in range(_DEPTH):
        for at, (name, called) in functions.items():
            if not names.isdisjoint(called):
                seeders[at] = name
        names.update(seeders.values())
    return frozenset(seeders)
