"""What is known of a file from its text alone, and kept when its tree is let go: how long it is and
what it imports.
"""

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
    """What is known of a file from its text alone.

    imports   (level, module, names) of each import
    problem   why it cannot be read, and `problem_line`
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
    """Yield the dotted names of what a module imports: each module, and what is taken from it,
    which may be a module of its own.

    `name` is that of the importing module, and `package` whether it is a package.
    """
    for level, module, names in outline.imports:
        origin = absolute(level, module, name, package=package)
        yield origin
        yield from (f"{origin}.{one}" for one in names if one != "*")
