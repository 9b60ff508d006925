"""Changes of a tree: what becomes of its nodes, and the lines that come to stand beside them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import libcst as cst

from reprocheck.fixes.edits.tree import Statement, Tree, is_none

Change = Callable[[cst.CSTNode], cst.CSTNode]


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """What becomes of a text.

    changes    nodes of the tree and what each becomes, given itself with the changes inside of it
    above      statements, and lines that must stand above each, below its comments
    below      statements, and lines that must stand below each
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
    above: tuple[tuple[Statement, str], ...] = ()
    below: tuple[tuple[Statement, str], ...] = ()
    first: tuple[tuple[cst.FunctionDef, str], ...] = ()
    imports: tuple[str, ...] = ()
    heads: tuple[tuple[str, str], ...] = ()
    settles: frozenset[str] = frozenset()
    by: Edit | None = None
    line: int = 0


def with_keyword(node: cst.CSTNode, name: str, value: str) -> cst.CSTNode:
    """Return a call with one more argument at its end, formatted like the last one."""
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


def in_place_of(node: cst.BaseExpression, text: str) -> tuple[cst.CSTNode, Change]:
    """Return an expression and its replacement, which keeps the parentheses around it."""
    value = cst.parse_expression(text).with_changes(lpar=node.lpar, rpar=node.rpar)
    return node, lambda _: value


def with_items(node: cst.CSTNode, items: Sequence[str], indentation: str | None) -> cst.CSTNode:
    """Return a dict with more items at its end.

    Each on an indented line of its own if an indentation is given, else on the line of the last
    item.
    """
    display = cst.ensure_type(node, cst.Dict)
    between: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if indentation is not None:
        between = cst.ParenthesizedWhitespace(last_line=cst.SimpleWhitespace(indentation))
    added = cst.ensure_type(cst.parse_expression(f"{{{', '.join(items)}}}"), cst.Dict)
    *others, last = [*display.elements, *added.elements]
    comma = cst.Comma(whitespace_after=between)
    elements = [one.with_changes(comma=comma) for one in others[len(display.elements) - 1 :]]
    last = last.with_changes(comma=display.elements[-1].comma)
    return display.with_changes(elements=[*display.elements[:-1], *elements, last])


def _with_lines(above: Iterable[str], below: Iterable[str]) -> Callable[[cst.CSTNode], Any]:
    """Return a statement with lines above and below it.

    Those above stand below the comments of the statement; empty ones at their end part both.
    """
    head = cst.parse_module("".join(f"{lines}\n" for lines in above))
    tail = cst.parse_module("".join(f"{lines}\n" for lines in below))

    def change(statement: Any) -> Any:
        if not head.body:
            return cst.FlattenSentinel([statement, *tail.body])
        first, *others = head.body
        first = first.with_changes(leading_lines=statement.leading_lines)
        statement = statement.with_changes(leading_lines=head.footer)
        return cst.FlattenSentinel([first, *others, statement, *tail.body])

    return change


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
    """Return the body of a function as an indented block, even if it was on the `def` line."""
    if isinstance(body, cst.IndentedBlock):
        return body
    suite = cst.ensure_type(body, cst.SimpleStatementSuite)
    line = cst.SimpleStatementLine(suite.body, trailing_whitespace=suite.trailing_whitespace)
    return cst.IndentedBlock([line])


class _Changing(cst.CSTTransformer):
    """Changes nodes, and visits only nodes that contain changes.

    `around` holds the nodes on the way.
    """

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
    above: defaultdict[Statement, dict[str, None]] = defaultdict(dict)
    below: defaultdict[Statement, dict[str, None]] = defaultdict(dict)
    for edit in edits:
        for node, change in edit.changes:
            changes[node].append(change)
        for statement, lines in edit.above:
            above[statement][lines] = None
        for statement, lines in edit.below:
            below[statement][lines] = None
        for function, line in edit.first:
            changes[function].append(beginning_with(line))
    for statement in dict.fromkeys((*above, *below)):
        lines_beside = _with_lines(above.get(statement, ()), below.get(statement, ()))
        changes[statement].append(lines_beside)
    around = set(chain.from_iterable(map(tree.around, changes)))
    return cst.ensure_type(tree.module.visit(_Changing(changes, around)), cst.Module)


def fits(tree: Tree, edits: Collection[Edit]) -> bool:
    """Return whether a text with the changes of all edits is Python still."""
    try:
        ast.parse(changed(tree, edits).code)
    except (cst.CSTValidationError, SyntaxError):
        return False
    return True
