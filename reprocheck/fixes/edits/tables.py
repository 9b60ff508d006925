"""Long tables of constants: for a patch each is one token, so that a file of data is not taken
apart number by number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

SHORTEST = 100
"""Lines from which a table is long."""
_DISPLAYS = (ast.Dict, ast.List, ast.Set)
_SIGNS = (ast.UnaryOp, ast.unaryop, ast.operator)
_PLAIN = (*_DISPLAYS, *_SIGNS, ast.Tuple, ast.Constant, ast.expr_context)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a table stands in a text, in bytes."""

    start: int
    end: int


@dataclass(frozen=True)
class Table(cst.BaseExpression):
    """The text of a table, brackets included."""

    text: str = ""
    lpar: Sequence[cst.LeftParen] = ()
    rpar: Sequence[cst.RightParen] = ()

    def _visit_and_replace_children(self, visitor: Any) -> Table:
        return self

    def _codegen_impl(self, state: Any, default_indent: bool = False) -> None:
        with state.record_syntactic_position(self):
            state.add_token(self.text)


def parsed(text: str) -> cst.Module:
    """Return the concrete tree of a text, with a `Table` for each long table in it.

    Raises libcst.ParserSyntaxError.
    """
    data = text.encode(errors="surrogatepass")
    short, tables = b"", {}
    at = 0
    for place in _places(text, data):
        name = f"reprocheck_table_{place.start}"
        tables[name] = data[place.start : place.end].decode()
        short += data[at : place.start] + name.encode()
        at = place.end
    if not tables or "reprocheck_table_" in text:
        return cst.parse_module(text)
    module = cst.parse_module((short + data[at:]).decode())
    return cst.ensure_type(module.visit(_Unfolding(tables)), cst.Module)


def _places(text: str, data: bytes) -> list[_Place]:
    """Return the long tables of a text, in their order; none if it cannot be parsed."""
    if text.count("\n") < SHORTEST:
        return []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    starts = [0, *(end.end() for end in re.finditer(rb"\r\n|\r|\n", data))]
    return [
        _Place(
            starts[node.lineno - 1] + node.col_offset,
            starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0),
        )
        for node in _tables(tree)
    ]


def _tables(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the outermost displays in brackets that are long and hold nothing but constants, among
    the values at the top level.
    """
    for statement in tree.body:
        value = getattr(statement, "value", None)
        if (
            isinstance(value, _DISPLAYS)
            and (value.end_lineno or 0) - value.lineno >= SHORTEST
            and all(isinstance(node, _PLAIN) for node in ast.walk(value))
        ):
            yield value


class _Unfolding(cst.CSTTransformer):
    def __init__(self, tables: dict[str, str]) -> None:
        super().__init__()
        self._tables = tables

    # libcst calls it so
    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802
        text = self._tables.get(updated_node.value)
        return updated_node if text is None else Table(text)
