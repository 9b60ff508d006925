"""A source text as a concrete tree: nodes by their places, and names through imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider, Scope, ScopeProvider

from reprocheck.files.source_text import split
from reprocheck.scan.finding import Finding
from reprocheck.scan.index import grouped, of_kind
from reprocheck.scan.names import last_part

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
    """Yield the outermost long displays in brackets that hold nothing but constants.

    Only among the values at the top level.
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


UNREADABLE = (cst.ParserSyntaxError, RecursionError)
"""What a text raises of which no tree can be made."""
Node = TypeVar("Node", bound=cst.CSTNode)
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
"""What stands on lines of its own."""
_STATEMENTS: tuple[type[Statement], ...] = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
_LOOPS = (cst.For, cst.While, cst.CompFor, cst.Lambda)
_UNPACKING: tuple[type[cst.AssignTarget | cst.For | cst.CompFor], ...] = (
    cst.AssignTarget,
    cst.For,
    cst.CompFor,
)
"""What may give values to several names in brackets."""
_BINDING: Mapping[type, str] = {
    **dict.fromkeys((cst.FunctionDef, cst.ClassDef, cst.Param), "name"),
    **dict.fromkeys((cst.AnnAssign, cst.AugAssign, cst.NamedExpr, *_UNPACKING), "target"),
}
"""The attribute of each node under which the name stands that the node gives a value."""
_ONCE = frozenset({"__init__", "__post_init__", "main", "setup", "build"})


class Tree:
    """A parsed text, with places, parents and names. Raises libcst.ParserSyntaxError."""

    def __init__(self, text: str) -> None:
        wrapper = self._wrapper = MetadataWrapper(parsed(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self.lines: Mapping[int, str] = dict(enumerate(split(text), 1))
        self._places = wrapper.resolve(PositionProvider)
        self._parents = _parents(wrapper.module)

    @cached_property
    def _scopes(self) -> Mapping[cst.CSTNode, Scope | None]:
        return self._wrapper.resolve(ScopeProvider)

    @cached_property
    def _by_range(self) -> dict[tuple[int, int, int, int], list[cst.CSTNode]]:
        found: dict[tuple[int, int, int, int], list[cst.CSTNode]] = {}
        for node, place in self._places.items():
            key = (place.start.line, place.start.column, place.end.line, place.end.column)
            found.setdefault(key, []).append(node)
        return found

    def at(self, finding: Finding, kind: type[Node]) -> Node | None:
        """Return the node of this kind that a finding underlines.

        None if the finding is about another text.
        """
        line = self.lines.get(finding.line)
        if line is None or finding.text not in ("", line):
            return None
        return self.node((finding.line, finding.column, finding.end_line, finding.end_column), kind)

    def node(self, span: tuple[int, int, int, int], kind: type[Node]) -> Node | None:
        """Return the node of this kind that begins and ends there: lines and columns from 1."""
        line, column, last, end = span
        found = self._by_range.get((line, column - 1, last, end - 1), [])
        return next(of_kind(found, kind), None)

    def expression(self, node: ast.expr) -> cst.BaseExpression | None:
        """Return the expression at the position of an `ast` node."""
        last = node.end_lineno or node.lineno
        end = self._column(last, node.end_col_offset or 0)
        span = (node.lineno, self._column(node.lineno, node.col_offset), last, end)
        return self.node(span, cst.BaseExpression)  # type: ignore[type-abstract]

    def statement(self, node: ast.stmt) -> Statement | None:
        """Return the statement at the position of an `ast` node.

        None if another one precedes it on its line.
        """
        column = self._column(node.lineno, node.col_offset)
        for one in self.every(*_STATEMENTS):
            start = self._places[one].start
            if (start.line, start.column + 1) == (node.lineno, column):
                return one
        return None

    def _column(self, line: int, offset: int) -> int:
        """Return a column from 1, of what begins behind so many bytes of a line."""
        return len(self.lines[line].encode()[:offset].decode()) + 1

    def call_at(self, finding: Finding) -> cst.Call | None:
        """Return the call that a finding underlines, if no argument is hidden by `*` or `**`."""
        call = self.at(finding, cst.Call)
        if call is None or is_open(call):
            return None
        return call

    def line(self, node: cst.CSTNode) -> int:
        """Return the line on which a node begins."""
        return self._places[node].start.line

    def last_line(self, node: cst.CSTNode) -> int:
        """Return the line on which a node ends."""
        return self._places[node].end.line

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the node around a node."""
        return self._parents.get(node)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, innermost first."""
        at = self._parents.get(node)
        while at is not None:
            yield at
            at = self._parents.get(at)

    def nearest(self, node: cst.CSTNode, *kinds: type[Node]) -> Node | None:
        """Return the innermost node of these kinds around a node."""
        return next(of_kind(self.around(node), *kinds), None)

    def statement_of(self, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
        """Return the line of statements that a node is part of."""
        return self.nearest(node, cst.SimpleStatementLine)

    def name(self, node: cst.CSTNode) -> str:
        """Return the dotted name through imports, `builtins.` included.

        It stays as written if no import binds it; empty for no name.
        """
        scope = self._scopes.get(node)
        found = scope.get_qualified_names_for(node) if scope is not None else ()
        names: set[str] = {one.name for one in found}
        if len(names) != 1:
            return written(node)
        return names.pop()

    def function(self, node: cst.CSTNode | None) -> str:
        """Return the dotted name of the function that an expression calls.

        Empty if it is no call.
        """
        if not isinstance(node, cst.Call):
            return ""
        return self.name(node.func)

    def every(self, *kinds: type[Node]) -> Iterator[Node]:
        """Return all nodes of these kinds, in no promised order."""
        return of_kind(self._places, *kinds)

    def named(self, name: str) -> list[cst.Name]:
        """Return every place in the text where this name is written, also behind a dot."""
        return [node for node in self.every(cst.Name) if node.value == name]

    def binds(self, name: str) -> tuple[cst.CSTNode, ...]:
        """Return what gives a name a value anywhere in the text, imports excluded.

        Assignments, definitions, parameters and loops.
        """
        return tuple(self._bound.get(name, ()))

    @cached_property
    def _bound(self) -> dict[str, list[cst.Name]]:
        return grouped((node.value, node) for node in self.every(cst.Name) if self._is_bound(node))

    def value_of(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """Return the value of a variable, if the text assigns it once, by a plain assignment."""
        bound = self.binds(written(node))
        if len(bound) != 1:
            return None
        return self.assigned_to(bound[0])

    def assigned_to(self, target: cst.CSTNode) -> cst.BaseExpression | None:
        """Return the value of the assignment whose only target this is."""
        return getattr(self.assignment_to(target), "value", None)

    def assignment_to(self, target: cst.CSTNode) -> cst.Assign | None:
        """Return the assignment whose only target this is."""
        _, assign, *_ = self.around(target)
        match assign:
            case cst.Assign(targets=[_]):
                return assign
        return None

    def _is_bound(self, name: cst.Name) -> bool:
        parent = self.parent(name)
        attribute = _BINDING.get(type(parent))
        if attribute is not None:
            return getattr(parent, attribute) is name
        if isinstance(parent, cst.Element | cst.StarredElement):
            unpacking = of_kind(self.around(name), *_UNPACKING)
            return any(name in inside(one.target) for one in unpacking)
        return isinstance(parent, cst.Global | cst.Nonlocal)

    def once(self, node: cst.CSTNode) -> bool:
        """Return whether the place is executed once, as far as the text shows.

        No loop is around it, and no function that is called from several places.
        """
        # what may execute what is inside of it more than once
        nearest = self.nearest(node, *_LOOPS, cst.FunctionDef)
        if nearest is None:
            return True
        if not isinstance(nearest, cst.FunctionDef):
            return False
        return nearest.name.value in _ONCE or self._is_called_once(nearest)

    def is_repeated(self, node: cst.CSTNode) -> bool:
        """Return whether the text shows that a node is executed often.

        It stands in a loop, or in a function that is called in one.
        """
        if self.nearest(node, *_LOOPS) is not None:
            return True
        functions = of_kind(self.around(node), cst.FunctionDef)
        names = {function.name.value for function in functions}
        calls = [one for one in self.every(cst.Call) if last_part(written(one.func)) in names]
        return any(map(self._is_in_loop, calls))

    def _is_in_loop(self, call: cst.Call) -> bool:
        """Return whether a loop makes a call in each iteration, not only to get its iterable."""
        loops = of_kind(self.around(call), cst.For, cst.While)
        each_time = (loop.body if isinstance(loop, cst.For) else loop for loop in loops)
        return any(call in inside(part) for part in each_time)

    def _is_called_once(self, function: cst.FunctionDef) -> bool:
        uses = self.named(function.name.value)
        uses.remove(function.name)
        if len(uses) != 1 or function in self.around(uses[0]):
            return False
        call = self.parent(uses[0])
        if isinstance(call, cst.Attribute):
            call = self.parent(call)
        return isinstance(call, cst.Call) and self.once(call)


def _parents(module: cst.Module) -> Mapping[cst.CSTNode, cst.CSTNode]:
    """Return the node around each node.

    `ParentNodeProvider` of libcst does the same with two visitors, and takes ten times as long.
    """
    parents: dict[cst.CSTNode, cst.CSTNode] = {}
    waiting: list[cst.CSTNode] = [module]
    while waiting:
        node = waiting.pop()
        for name in node.__slots__:
            value = getattr(node, name)
            children = value if isinstance(value, list | tuple) else (value,)
            for child in of_kind(children, cst.CSTNode):  # type: ignore[type-abstract]
                parents[child] = node
                waiting.append(child)
    return parents


def inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all nodes in it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(one.children)


def written(node: cst.CSTNode | None) -> str:
    """Return a dotted name as written; empty if the node is something else."""
    if isinstance(node, cst.Name):
        return node.value
    if not isinstance(node, cst.Attribute):
        return ""
    before = written(node.value)
    if not before:
        return ""
    return f"{before}.{node.attr.value}"


def is_open(call: cst.Call) -> bool:
    """Return whether a call hides arguments in `*args` or `**kwargs`."""
    return any(one.star for one in call.args)


def is_none(node: cst.CSTNode) -> bool:
    """Return whether an expression is `None`."""
    return written(node) == "None"


def keyword(call: cst.Call, *names: str) -> cst.Arg | None:
    """Return the argument that is given under one of these names."""
    return next((one for one in call.args if written(one.keyword) in names), None)


def positional(call: cst.Call) -> list[cst.Arg]:
    """Return the arguments without a name."""
    return [one for one in call.args if not (one.keyword or one.star)]


def only(call: cst.Call) -> cst.BaseExpression | None:
    """Return the only argument of a call."""
    match call.args:
        case [cst.Arg(star="", value=value)]:
            return value
    return None


def argument(call: cst.Call, *names: str, index: int = 0) -> cst.Arg | None:
    """Return the argument given under one of these names, else the argument at an index."""
    return keyword(call, *names) or next(iter(positional(call)[index:]), None)
