"""A source text as a concrete tree: the node of a finding, names through imports, and the
replacements that findings ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import (
    MetadataWrapper,
    ParentNodeProvider,
    PositionProvider,
    QualifiedNameProvider,
)

from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.tables import parsed
from reprocheck.scan.text import split

Node = TypeVar("Node", bound=cst.CSTNode)
Change = Callable[[cst.CSTNode], cst.CSTNode]
_LOOPS = (cst.For, cst.While, cst.CompFor, cst.Lambda)
_ONCE = frozenset({"__init__", "__post_init__", "main", "setup", "build"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """What a finding asks for.

    changes    nodes of the tree and what each becomes, given itself with the changes inside of it
    below      statements, and a line that must stand below each
    imports    modules that must be bound by their own name at the top: `torch`
    heads      lines that must stand below the imports at the top, each the dotted name of a
               function and its arguments
    settles    streams that are seeded by the change from its line on, by their titles
    line       the line of the text that is changed, or above which something must stand; 0 is that
               of the finding
    """

    changes: tuple[tuple[cst.CSTNode, Change], ...] = ()
    below: tuple[tuple[cst.SimpleStatementLine, str], ...] = ()
    imports: tuple[str, ...] = ()
    heads: tuple[tuple[str, str], ...] = ()
    settles: frozenset[str] = frozenset()
    line: int = 0


Mender = Callable[["Tree", Finding, int], Edit | None]
"""From the tree, a finding and how many were mended alike above it, to what to do; None where the
place cannot be mended safely.
"""


class Tree:
    """A parsed text, with places, parents and names. Raises libcst.ParserSyntaxError."""

    def __init__(self, text: str) -> None:
        wrapper = self._wrapper = MetadataWrapper(parsed(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self.lines = split(text)
        self._places = wrapper.resolve(PositionProvider)
        self._parents: Mapping[cst.CSTNode, cst.CSTNode] = wrapper.resolve(ParentNodeProvider)

    @cached_property
    def _names(self) -> Mapping[cst.CSTNode, object]:
        return self._wrapper.resolve(QualifiedNameProvider)

    @cached_property
    def _by_range(self) -> dict[tuple[int, int, int, int], list[cst.CSTNode]]:
        found: dict[tuple[int, int, int, int], list[cst.CSTNode]] = {}
        for node, place in self._places.items():
            key = (place.start.line, place.start.column, place.end.line, place.end.column)
            found.setdefault(key, []).append(node)
        return found

    def at(self, finding: Finding, kind: type[Node]) -> Node | None:
        """The node of this kind that a finding underlines.

        None where the text is not that of the finding.
        """
        line = self.lines[finding.line - 1] if 0 < finding.line <= len(self.lines) else None
        if line is None or (finding.text and line != finding.text):
            return None
        return self.node((finding.line, finding.column, finding.end_line, finding.end_column), kind)

    def node(self, span: tuple[int, int, int, int], kind: type[Node]) -> Node | None:
        """The node of this kind that begins and ends there: lines and columns from 1."""
        line, column, last, end = span
        found = self._by_range.get((line, column - 1, last, end - 1), [])
        return next((node for node in found if isinstance(node, kind)), None)

    def line(self, node: cst.CSTNode) -> int:
        """The line on which a node begins."""
        return self._places[node].start.line

    def last_line(self, node: cst.CSTNode) -> int:
        """The line on which a node ends."""
        return self._places[node].end.line

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node around a node."""
        return self._parents.get(node)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around a node, innermost first."""
        at = self._parents.get(node)
        while at is not None:
            yield at
            at = self._parents.get(at)

    def statement_of(self, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
        """The line of statements that a node is part of."""
        lines = (one for one in self.around(node) if isinstance(one, cst.SimpleStatementLine))
        return next(lines, None)

    def name(self, node: cst.CSTNode) -> str:
        """The dotted name through imports, `builtins.` included; as written where no import binds
        it; empty for no name.
        """
        known: Any = self._names.get(node, set())
        names = {one.name for one in (known() if callable(known) else known)}
        return names.pop() if len(names) == 1 else written(node)

    def every(self, kind: type[Node]) -> Iterator[Node]:
        """All nodes of a kind, in no promised order."""
        return (node for node in self._places if isinstance(node, kind))

    def binds(self, name: str) -> tuple[cst.CSTNode, ...]:
        """What gives a name a value anywhere in the text: assignments, definitions, parameters,
        loops; no imports.
        """
        return tuple(self._bound.get(name, ()))

    @cached_property
    def _bound(self) -> dict[str, list[cst.CSTNode]]:
        found: dict[str, list[cst.CSTNode]] = {}
        for node in self.every(cst.Name):
            if self._is_bound(node):
                found.setdefault(node.value, []).append(node)
        return found

    def value_of(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What a variable holds, where the text gives it a value once, by a plain assignment."""
        bound = self.binds(node.value) if isinstance(node, cst.Name) else ()
        assign = self.parent(self.parent(bound[0]) or bound[0]) if len(bound) == 1 else None
        return assign.value if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None

    def _is_bound(self, name: cst.Name) -> bool:
        parent = self.parent(name)
        if isinstance(parent, cst.FunctionDef | cst.ClassDef | cst.Param):
            return parent.name is name
        if isinstance(
            parent,
            cst.AssignTarget
            | cst.AnnAssign
            | cst.AugAssign
            | cst.NamedExpr
            | cst.For
            | cst.CompFor,
        ):
            return parent.target is name
        if isinstance(parent, cst.Element | cst.StarredElement):
            return any(
                isinstance(one, cst.AssignTarget | cst.For | cst.CompFor) and _is_target(one, name)
                for one in self.around(name)
            )
        return isinstance(parent, cst.Global | cst.Nonlocal)

    def once(self, node: cst.CSTNode) -> bool:
        """Whether the place is executed once, as far as the text shows: no loop, no function that
        is called from several places.
        """
        for one in self.around(node):
            if isinstance(one, _LOOPS):
                return False
            if isinstance(one, cst.FunctionDef):
                return one.name.value in _ONCE or self._is_called_once(one)
        return True

    def is_repeated(self, node: cst.CSTNode) -> bool:
        """Whether the text shows that the place is executed often: in a loop, or in a function that
        is called in one.
        """
        names = set()
        for one in self.around(node):
            if isinstance(one, _LOOPS):
                return True
            if isinstance(one, cst.FunctionDef):
                names.add(one.name.value)
        calls = [one for one in self.every(cst.Call) if last(written(one.func)) in names]
        return any(
            isinstance(around, cst.For | cst.While) and call in _body(around)
            for call in calls
            for around in self.around(call)
        )

    def _is_called_once(self, function: cst.FunctionDef) -> bool:
        uses = [
            node
            for node in self.every(cst.Name)
            if node.value == function.name.value and node is not function.name
        ]
        if len(uses) != 1 or any(
            isinstance(one, cst.FunctionDef) and one is function for one in self.around(uses[0])
        ):
            return False
        parent = self.parent(uses[0])
        call = self.parent(parent) if isinstance(parent, cst.Attribute) else parent
        return isinstance(call, cst.Call) and self.once(call)


def _body(loop: cst.For | cst.While) -> set[cst.CSTNode]:
    """The nodes that a loop goes through each time: not what it goes over."""
    return set(inside(loop.body if isinstance(loop, cst.For) else loop))


def inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all nodes in it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(one.children)


def _is_target(node: cst.AssignTarget | cst.For | cst.CompFor, name: cst.Name) -> bool:
    """Whether a name is written in the target of an assignment or loop."""
    return any(one is name for one in inside(node.target))


def written(node: cst.CSTNode) -> str:
    """A dotted name as it stands; empty where it is something else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        before = written(node.value)
        return f"{before}.{node.attr.value}" if before else ""
    return ""


def last(name: str) -> str:
    """The last part of a dotted name."""
    return name.rpartition(".")[2]


def is_open(call: cst.Call) -> bool:
    """Whether a call hides arguments in `*args` or `**kwargs`."""
    return any(one.star for one in call.args)


def is_none(node: cst.CSTNode) -> bool:
    """Whether an expression is `None`."""
    return isinstance(node, cst.Name) and node.value == "None"


def is_false(node: cst.CSTNode) -> bool:
    """Whether an expression is `False`."""
    return isinstance(node, cst.Name) and node.value == "False"


def keyword(call: cst.Call, *names: str) -> cst.Arg | None:
    """The argument that is given under one of these names."""
    return next(
        (one for one in call.args if one.keyword is not None and one.keyword.value in names), None
    )


def positional(call: cst.Call) -> list[cst.Arg]:
    """The arguments without a name."""
    return [one for one in call.args if one.keyword is None and not one.star]


def with_keyword(node: cst.CSTNode, name: str, value: str) -> cst.CSTNode:
    """A call with one more argument at its end, spaced and broken as the last one is."""
    call = cst.ensure_type(node, cst.Call)
    added = cst.Arg(
        keyword=cst.Name(name),
        value=cst.parse_expression(value),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    if not call.args:
        return call.with_changes(args=[added])
    end = call.args[-1]
    broken: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        broken = call.whitespace_before_args
    if isinstance(end.comma, cst.Comma):
        added = added.with_changes(comma=end.comma, whitespace_after_arg=end.whitespace_after_arg)
    elif isinstance(broken, cst.ParenthesizedWhitespace):
        added = added.with_changes(whitespace_after_arg=end.whitespace_after_arg)
        end = end.with_changes(whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(
        args=[*call.args[:-1], end.with_changes(comma=cst.Comma(whitespace_after=broken)), added]
    )


def with_value(arg: cst.Arg, value: str) -> tuple[cst.CSTNode, Change]:
    """An argument's value, and its replacement."""
    return arg.value, lambda _: cst.parse_expression(value)


def called(node: cst.CSTNode, name: str) -> cst.CSTNode:
    """A call whose function has another last name: `torch.empty(3)` as `torch.zeros(3)`."""
    call = cst.ensure_type(node, cst.Call)
    return call.with_changes(
        func=cst.ensure_type(call.func, cst.Attribute).with_changes(attr=cst.Name(name))
    )


def followed_by(lines: Sequence[str]) -> Callable[[cst.CSTNode], Any]:
    """A statement with these lines below it."""
    added = [cst.parse_statement(line) for line in lines]
    return lambda node: cst.FlattenSentinel(
        [cst.ensure_type(node, cst.SimpleStatementLine), *added]
    )


class _Changing(cst.CSTTransformer):
    """Changes nodes, and goes only where there are some: `around` holds the nodes on the way."""

    def __init__(
        self, changes: Mapping[cst.CSTNode, Collection[Change]], around: Collection[cst.CSTNode]
    ) -> None:
        super().__init__()
        self._changes = changes
        self._around = around

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self._around

    def on_leave(self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT) -> cst.CSTNode:  # type: ignore[override]
        done: cst.CSTNode = updated_node
        for change in self._changes.get(original_node, ()):
            done = change(done)
        return done


def changed(tree: Tree, edits: Collection[Edit]) -> cst.Module:
    """The module of the tree with the changes of all edits."""
    changes: dict[cst.CSTNode, list[Change]] = {}
    below: dict[cst.SimpleStatementLine, list[str]] = {}
    for edit in edits:
        for node, change in edit.changes:
            changes.setdefault(node, []).append(change)
        for statement, line in edit.below:
            lines = below.setdefault(statement, [])
            if line not in lines:
                lines.append(line)
    for statement, lines in below.items():
        changes.setdefault(statement, []).append(followed_by(lines))
    if not changes:
        return tree.module
    around = {one for node in changes for one in tree.around(node)}
    return cst.ensure_type(tree.module.visit(_Changing(changes, around)), cst.Module)
