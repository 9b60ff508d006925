"""Whether a line was executed, as far as the recorded runs show it: from the lines that were seen
under way and the functions that ran.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from reprocheck.model.static import Executed
from reprocheck.trace.executed_code import Ran

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_CODE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CONDITIONAL = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.match_case, ast.ExceptHandler)
_BLOCKS = ("body", "orelse", "finalbody")
_RUN_ONCE: Mapping[type, tuple[str, ...]] = {
    ast.With: ("body",),
    ast.If: ("body", "orelse"),
}
"""Statements of whose blocks at most one runs, and no more than once."""
_PUT_OFF: Mapping[type, tuple[str, ...]] = {
    ast.Lambda: ("body",),
    ast.IfExp: ("body", "orelse"),
    ast.GeneratorExp: ("elt",),
}
"""The parts of an expression that may not be evaluated when it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands: the innermost function (None: the top level), and the blocks from there
    on, outermost first.

    blocks        of each block that holds the line: its id, and which of its statements
    conditional   whether it may be passed over although the function runs
    """

    function: _Function | None
    blocks: tuple[tuple[int, int], ...]
    conditional: bool


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of statements, what it belongs to, and as what of it."""

    statements: list[ast.stmt]
    owner: ast.AST | None = None
    name: str = ""

    @property
    def conditional(self) -> bool:
        """Return whether its owner may run without it."""
        return self.name == "orelse" or isinstance(self.owner, _CONDITIONAL)

    @property
    def guarded(self) -> bool:
        """Return whether an error in it is caught, so that the rest of it may be passed over."""
        return self.name == "body" and isinstance(self.owner, ast.Try) and bool(self.owner.handlers)


def place(tree: ast.Module, line: int) -> Place:
    """Return where a line of a file stands."""
    function: _Function | None = None
    blocks: list[tuple[int, int]] = []
    conditional = False
    block = _Block(tree.body)
    while statement := _holding(block.statements, line):
        index = block.statements.index(statement)
        blocks.append((id(block.statements), index))
        left_early = function is not None and any(map(_leaves, block.statements[:index]))
        caught = block.guarded and index > 0
        inner = (
            one
            for one in _inner(statement)
            if line in _lines(one.statements[0], one.statements[-1])
        )
        block = next(inner, _Block([]))
        if isinstance(block.owner, _Function):
            function, blocks, conditional = block.owner, [], False
        else:
            conditional = conditional or left_early or caught or block.conditional
    return Place(function=function, blocks=tuple(blocks), conditional=conditional)


def executed(
    tree: ast.Module,
    file: str,
    line: int,
    ran: Sequence[Ran],
    *,
    script: bool,
    offset: int | None = None,
) -> tuple[Executed, int | None]:
    """Return whether a line of a file was executed, and the offset in the trace by which it was.

    script   whether it is a line of the program itself
    offset   where in the line the expression begins that is meant, in bytes: its statement may run
             without it
    """
    state, at = _executed(tree, file, line, ran, script=script)
    if state == "executed" and offset is not None and _is_put_off(tree, line, offset):
        return "entered", None
    return state, at


def _executed(
    tree: ast.Module, file: str, line: int, ran: Sequence[Ran], *, script: bool
) -> tuple[Executed, int | None]:
    here = place(tree, line)
    state: Executed = "not_seen"
    for one in ran:
        under_way = [other for name, other in one.lines if name == file]
        for other in under_way:
            if _left_out(tree, line, other):
                return "not_executed", None
            there = place(tree, other)
            if there.function is not here.function:
                continue
            if _passed(here, there):
                return "executed", one.at
            if there.blocks[:1] >= here.blocks[:1]:
                state = "entered"
        if not _is_left(one, file, here.function, script=script):
            continue
        if not here.conditional:
            return "executed", one.at
        state = "entered"
    return state, None


def _is_left(one: Ran, file: str, function: _Function | None, *, script: bool) -> bool:
    """Return whether an event says that a function ran to its end, or the whole file where it is
    None.
    """
    if function is None:
        return not script and file in one.files
    return (file, _first(function)) in one.done and not _shares_its_line(function)


def _left_out(tree: ast.Module, line: int, other: int) -> bool:
    """Return whether a line cannot run where another was under way: it is in the other branch of an
    `if` that runs once.
    """
    mine = theirs = tree.body
    while mine and mine is theirs:
        statement = _holding(mine, line)
        if statement is not _holding(mine, other):
            return False
        blocks = _parts(statement, _RUN_ONCE)
        mine, theirs = _holding_one(blocks, line), _holding_one(blocks, other)
    return bool(mine and theirs)


def _holding(body: Sequence[ast.stmt], line: int) -> ast.stmt | None:
    """Return the statement of a block that a line stands in."""
    return next((one for one in body if line in _lines(one, one)), None)


def _holding_one(blocks: Sequence[list[ast.stmt]], line: int) -> list[ast.stmt]:
    """Return the block that a line stands in; empty where it is none of them, as in a condition."""
    return next((block for block in blocks if _holding(block, line)), [])


def _lines(first: ast.stmt, last: ast.stmt) -> range:
    """Return the lines from the beginning of a statement to the end of another."""
    return range(_first(first), (last.end_lineno or last.lineno) + 1)


def _parts(node: ast.AST | None, names: Mapping[type, tuple[str, ...]]) -> list[Any]:
    """Return the parts of a node that a table names for its type."""
    return [getattr(node, name) for name in names.get(type(node), ())]


def _passed(here: Place, there: Place) -> bool:
    """Return whether the statement at `here` was begun when the one at `there` is: it stands before
    it in a block that both share.
    """
    if not here.blocks:
        return False
    block, index = here.blocks[-1]
    return any(other == block and number >= index for other, number in there.blocks)


def _first(node: ast.AST) -> int:
    """Return the first line of a statement, decorators counted."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", None) or []
    line: int = getattr(node, "lineno", 0)
    return min([line, *(one.lineno for one in decorators)])


def _inner(statement: ast.stmt) -> Iterator[_Block]:
    """Yield the blocks right inside a statement that hold anything."""
    handlers = getattr(statement, "handlers", ())
    for owner in (statement, *handlers, *getattr(statement, "cases", ())):
        for name in _BLOCKS:
            if block := getattr(owner, name, None):
                yield _Block(block, owner, name)


def _leaves(statement: ast.stmt) -> bool:
    """Return whether a function may end within a statement before its end."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return | ast.Raise):
            return True
        if not isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def _shares_its_line(function: _Function) -> bool:
    """Return whether other code begins on the first line of a function, in its decorators or
    defaults: what ran is known by that line alone.
    """
    first = _first(function)
    around = [*function.decorator_list, function.args]
    nodes = chain.from_iterable(map(ast.walk, around))
    return any(isinstance(node, _CODE) and node.lineno == first for node in nodes)


def _is_put_off(tree: ast.Module, line: int, offset: int) -> bool:
    """Return whether an expression is not evaluated whenever its statement is: in a lambda, a
    branch, a generator that is kept, or behind `and` and `or`.
    """
    at: ast.AST = tree
    while (child := _child_at(at, line, offset)) is not None:
        put_off = at.values[1:] if isinstance(at, ast.BoolOp) else _parts(at, _PUT_OFF)
        if child in put_off:
            return True
        at = child
        match child:
            case ast.Call(args=[ast.GeneratorExp(elt=element)]) if _holds(element, line, offset):
                # a generator that is the one argument of a call is not kept: `sum(f(x) for x in y)`
                at = element
    return False


def _child_at(node: ast.AST, line: int, offset: int) -> ast.AST | None:
    return next((one for one in ast.iter_child_nodes(node) if _holds(one, line, offset)), None)


def _holds(node: ast.AST, line: int, offset: int) -> bool:
    """Return whether an expression begins in a node.

    What has no place of its own, as arguments and parts of comprehensions, is looked into.
    """
    end_line = getattr(node, "end_lineno", None)
    if end_line is None:
        return _child_at(node, line, offset) is not None
    end = (end_line, getattr(node, "end_col_offset", 0))
    begins = (_first(node), getattr(node, "col_offset", 0))
    if isinstance(node, _Function | ast.ClassDef):
        # it begins with its decorators, whose `@` stands before the first of them
        begins = (_first(node), 0)
    return begins <= (line, offset) < end
