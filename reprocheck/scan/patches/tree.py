"""A source text as a concrete tree: the node of a finding, names through imports, and the
replacements that findings ask for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import chain
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import (
    MetadataWrapper,
    ParentNodeProvider,
    PositionProvider,
    QualifiedNameProvider,
)

from reprocheck.files.source_text import split
from reprocheck.scan.finding import Finding
from reprocheck.scan.index import grouped, of_kind
from reprocheck.scan.names import last_part
from reprocheck.scan.patches.tables import parsed

Node = TypeVar("Node", bound=cst.CSTNode)
Change = Callable[[cst.CSTNode], cst.CSTNode]
_STATEMENTS: tuple[type[cst.For | cst.While], ...] = (cst.For, cst.While)
"""Loops that are statements."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """What a finding asks for.

    changes    nodes of the tree and what each becomes, given itself with the changes inside of it
    below      statements, and a line that must stand below each
    imports    modules that must be bound by their own name at the top: `torch`
    first      functions, and a line that must stand first in each
    heads      lines that must stand below the imports at the top, each the dotted name of a
               function and its arguments
    settles    streams that are seeded by the change from its line on, by their titles
    by         what another finding asks for, where that fixes this one, too
    line       the line of the text that is changed, or above which something must stand; 0 is that
               of the finding
    """

    changes: tuple[tuple[cst.CSTNode, Change], ...] = ()
    below: tuple[tuple[cst.SimpleStatementLine, str], ...] = ()
    first: tuple[tuple[cst.FunctionDef, str], ...] = ()
    imports: tuple[str, ...] = ()
    heads: tuple[tuple[str, str], ...] = ()
    settles: frozenset[str] = frozenset()
    by: Edit | None = None
    line: int = 0


Fixer = Callable[["Tree", Finding, int], Edit | None]
"""From the tree, a finding and how many were fixed alike above it, to what to do; None where the
place cannot be fixed safely.
"""


CallFixer = Callable[["Tree", cst.Call, Finding, int], Edit | None]


def on_call(fix: CallFixer) -> Fixer:
    """Return a fixer of calls that hide no argument: it is given the call that a finding
    underlines.
    """

    @wraps(fix)
    def fixer(tree: Tree, finding: Finding, number: int) -> Edit | None:
        call = tree.call_at(finding)
        if call is None:
            return None
        return fix(tree, call, finding, number)

    return fixer


class Tree:
    """A parsed text, with places, parents and names. Raises libcst.ParserSyntaxError."""

    def __init__(self, text: str) -> None:
        wrapper = self._wrapper = MetadataWrapper(parsed(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self.lines: Mapping[int, str] = dict(enumerate(split(text), 1))
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
        """Return the node of this kind that a finding underlines.

        None where the text is not that of the finding.
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

    def call_at(self, finding: Finding) -> cst.Call | None:
        """Return the call that a finding underlines, where it hides no argument."""
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
        """Return the dotted name through imports, `builtins.` included; as written where no import
        binds it; empty for no name.
        """
        known: Any = self._names.get(node, ())
        # libcst leaves a name that nobody has asked for yet as a function that finds it
        found = known() if callable(known) else known
        names: set[str] = {one.name for one in found}
        if len(names) != 1:
            return written(node)
        return names.pop()

    def function(self, node: cst.CSTNode | None) -> str:
        """Return the dotted name of the function that an expression calls; empty where it is no
        call.
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
        """Return what gives a name a value anywhere in the text: assignments, definitions,
        parameters, loops; no imports.
        """
        return tuple(self._bound.get(name, ()))

    @cached_property
    def _bound(self) -> dict[str, list[cst.Name]]:
        return grouped((node.value, node) for node in self.every(cst.Name) if self._is_bound(node))

    def value_of(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """Return what a variable holds, where the text gives it a value once, by a plain
        assignment.
        """
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
        """Return whether the place is executed once, as far as the text shows: no loop, no function
        that is called from several places.
        """
        # what may execute what is inside of it more than once
        nearest = self.nearest(node, *_LOOPS, cst.FunctionDef)
        if nearest is None:
            return True
        if not isinstance(nearest, cst.FunctionDef):
            return False
        return nearest.name.value in _ONCE or self._is_called_once(nearest)

    def is_repeated(self, node: cst.CSTNode) -> bool:
        """Return whether the text shows that the place is executed often: in a loop, or in a
        function that is called in one.
        """
        if self.nearest(node, *_LOOPS) is not None:
            return True
        functions = of_kind(self.around(node), cst.FunctionDef)
        names = {function.name.value for function in functions}
        calls = [one for one in self.every(cst.Call) if last_part(written(one.func)) in names]
        return any(map(self._is_in_loop, calls))

    def _is_in_loop(self, call: cst.Call) -> bool:
        """Return whether a loop makes a call each time it goes round: not to find what it goes
        over.
        """
        loops = of_kind(self.around(call), *_STATEMENTS)
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


def inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all nodes in it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(one.children)


def written(node: cst.CSTNode | None) -> str:
    """Return a dotted name as it stands; empty where it is something else."""
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
    """Return the argument that is given under one of these names, else the one at an index."""
    return keyword(call, *names) or next(iter(positional(call)[index:]), None)


def with_keyword(node: cst.CSTNode, name: str, value: str) -> cst.CSTNode:
    """Return a call with one more argument at its end, spaced and broken as the last one is."""
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


def with_number(node: cst.CSTNode, number: str = "0") -> cst.CSTNode:
    """Return a call with a number as its only argument."""
    argument = cst.Arg(cst.parse_expression(number))
    return cst.ensure_type(node, cst.Call).with_changes(args=[argument])


def with_value(arg: cst.Arg, value: str) -> tuple[cst.CSTNode, Change]:
    """Return an argument's value, and its replacement."""
    return arg.value, lambda _: cst.parse_expression(value)


def filled(
    call: cst.Call, given: cst.Arg | None, word: str, value: str, *, imports: tuple[str, ...] = ()
) -> Edit | None:
    """Return an edit that gives a value to an argument that is not given or is None, else None."""
    if given is None:
        added = (call, lambda node: with_keyword(node, word, value))
        return Edit(changes=(added,), imports=imports)
    if is_none(given.value):
        return Edit(changes=(with_value(given, value),), imports=imports)
    return None


def called(node: cst.CSTNode, name: str) -> cst.CSTNode:
    """Return a call whose function has another last name: `torch.empty(3)` as `torch.zeros(3)`."""
    call = cst.ensure_type(node, cst.Call)
    return call.with_changes(
        func=cst.ensure_type(call.func, cst.Attribute).with_changes(attr=cst.Name(name))
    )


def followed_by(lines: Iterable[str]) -> Callable[[cst.CSTNode], Any]:
    """Return a statement with these lines below it."""
    added = [cst.parse_statement(line) for line in lines]
    return lambda node: cst.FlattenSentinel(
        [cst.ensure_type(node, cst.SimpleStatementLine), *added]
    )


def beginning_with(line: str) -> Change:
    """Return a function with this line above its first statement, below its docstring."""
    added = cst.parse_statement(line)

    def change(node: cst.CSTNode) -> cst.CSTNode:
        function = cst.ensure_type(node, cst.FunctionDef)
        body = _as_block(function.body)
        above = int(function.get_docstring() is not None)
        lines = [*body.body[:above], added, *body.body[above:]]
        return function.with_changes(body=body.with_changes(body=lines))

    return change


def _as_block(body: cst.BaseSuite) -> cst.IndentedBlock:
    """Return the body of a function, that of one line as a block of its own."""
    if isinstance(body, cst.IndentedBlock):
        return body
    suite = cst.ensure_type(body, cst.SimpleStatementSuite)
    line = cst.SimpleStatementLine(suite.body, trailing_whitespace=suite.trailing_whitespace)
    return cst.IndentedBlock([line])


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
    """Return the module of the tree with the changes of all edits."""
    changes: defaultdict[cst.CSTNode, list[Change]] = defaultdict(list)
    below: defaultdict[cst.SimpleStatementLine, dict[str, None]] = defaultdict(dict)
    for edit in edits:
        for node, change in edit.changes:
            changes[node].append(change)
        for statement, line in edit.below:
            below[statement][line] = None
        for function, line in edit.first:
            changes[function].append(beginning_with(line))
    for statement, lines in below.items():
        changes[statement].append(followed_by(lines))
    around = set(chain.from_iterable(map(tree.around, changes)))
    return cst.ensure_type(tree.module.visit(_Changing(changes, around)), cst.Module)
