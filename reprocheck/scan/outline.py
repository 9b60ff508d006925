"""Outline a file by its text: its length and imports, which are kept when its tree is freed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from reprocheck.scan.names import absolute

_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of statements that hold statements, or what holds them."""

Import = tuple[int, str, tuple[str, ...]]
"""An import: its level, the module, and the names that are taken from it; no names for `import`."""


class Outline(msgspec.Struct, frozen=True):
    """The length and the imports of a file.

    lines         the number of lines
    imports       (level, module, names) of each import
    problem       why the file cannot be read; empty if it can
    problem_line  the line of this problem, if known
    """

    lines: int = 0
    imports: tuple[Import, ...] = ()
    problem: str = ""
    problem_line: int | None = None


def outlined(tree: ast.Module, lines: Sequence[str]) -> Outline:
    """Return the outline of a file that could be parsed."""
    imports: list[Import] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Import(names=aliases):
                imports += [(0, alias.name, ()) for alias in aliases]
            case ast.ImportFrom(names=aliases, level=level, module=module):
                imports.append((level, module or "", tuple(alias.name for alias in aliases)))
            case _:
                waiting += chain.from_iterable(getattr(node, body, ()) for body in _BODIES)
    return Outline(lines=len(lines), imports=tuple(sorted(set(imports))))


def imported(outline: Outline, name: str, *, package: bool) -> Iterator[str]:
    """Yield the dotted names of the modules that a file imports, and of the names that it imports
    from them, which may be modules, too.

    name     dotted name of the importing module
    package  whether the importing module is a package
    """
    for level, module, names in outline.imports:
        origin = absolute(level, module, name, package=package)
        yield origin
        yield from (f"{origin}.{one}" for one in names if one != "*")
