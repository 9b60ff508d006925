"""Decide whether a line was executed.

It is decided from the lines that were seen running and the functions that ended.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from reprocheck.ladder.sources import Recorded
from reprocheck.model.static import Executed
from reprocheck.trace.executed_code import Ran, read_reached

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
    """Where a line stands in the syntax tree.

    function     the innermost function; None for the top level
    blocks       (id of the block, index of the statement) for each block that holds the line,
                 outermost first, from the function on
    conditional  whether the line may be skipped although the function runs
    """

    function: _Function | None
    blocks: tuple[tuple[int, int], ...]
    conditional: bool


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of statements.

    statements  the statements
    owner       the node that the block belongs to
    name        the field of the owner that holds the block, such as `orelse`
    """

    statements: list[ast.stmt]
    owner: ast.AST | None = None
    name: str = ""

    @property
    def conditional(self) -> bool:
        """Return whether the owner of the block may run without the block."""
        return self.name == "orelse" or isinstance(self.owner, _CONDITIONAL)

    @property
    def guarded(self) -> bool:
        """Return whether an error in the block is caught: the rest of the block may be skipped."""
        return self.name == "body" and isinstance(self.owner, ast.Try) and bool(self.owner.handlers)


def place(tree: ast.Module, line: int) -> Place:
    """Return the place of a line in the syntax tree of its file."""
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
    """Return whether a line was executed, and the offset in the trace at which that was known.

    script  whether the file is the program itself
    offset  column in bytes at which the expression in question begins, because its statement may
            run without it
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
    """Return whether an event shows that a function ran to its end; for None, the whole file."""
    if function is None:
        return not script and file in one.files
    return (file, _first(function)) in one.done and not _shares_its_line(function)


def _left_out(tree: ast.Module, line: int, other: int) -> bool:
    """Return whether a line cannot run if another line runs.

    That is so if it is in the other branch of an `if` that runs once.
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
    """Return the statement of a block that holds a line; None if there is none."""
    return next((one for one in body if line in _lines(one, one)), None)


def _holding_one(blocks: Sequence[list[ast.stmt]], line: int) -> list[ast.stmt]:
    """Return the block that holds a line.

    Empty if no block does, as for the condition of an `if`.
    """
    return next((block for block in blocks if _holding(block, line)), [])


def _lines(first: ast.stmt, last: ast.stmt) -> range:
    """Return the lines from the beginning of the first statement to the end of the last."""
    return range(_first(first), (last.end_lineno or last.lineno) + 1)


def _parts(node: ast.AST | None, names: Mapping[type, tuple[str, ...]]) -> list[Any]:
    """Return the parts of a node that a table names for its type."""
    return [getattr(node, name) for name in names.get(type(node), ())]


def _passed(here: Place, there: Place) -> bool:
    """Return whether the statement at `here` began before the one at `there`.

    That is so if it is earlier in a shared block, or the same.
    """
    if not here.blocks:
        return False
    block, index = here.blocks[-1]
    return any(other == block and number >= index for other, number in there.blocks)


def _first(node: ast.AST) -> int:
    """Return the first line of a statement, including its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", None) or []
    line: int = getattr(node, "lineno", 0)
    return min([line, *(one.lineno for one in decorators)])


def _inner(statement: ast.stmt) -> Iterator[_Block]:
    """Yield the non-empty blocks directly inside a statement."""
    handlers = getattr(statement, "handlers", ())
    for owner in (statement, *handlers, *getattr(statement, "cases", ())):
        for name in _BLOCKS:
            if block := getattr(owner, name, None):
                yield _Block(block, owner, name)


def _leaves(statement: ast.stmt) -> bool:
    """Return whether a statement holds a `return` or `raise` that may end the function early."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return | ast.Raise):
            return True
        if not isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def _shares_its_line(function: _Function) -> bool:
    """Return whether a lambda or comprehension begins on the first line of a function.

    Code that ran is known by its first line alone, so the two cannot be told apart.
    """
    first = _first(function)
    around = [*function.decorator_list, function.args]
    nodes = chain.from_iterable(map(ast.walk, around))
    return any(isinstance(node, _CODE) and node.lineno == first for node in nodes)


def _is_put_off(tree: ast.Module, line: int, offset: int) -> bool:
    """Return whether an expression may not be evaluated when its statement runs.

    For example, in a lambda, a conditional expression, a stored generator, or after `and` and `or`.
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

    Nodes without a position, such as arguments and parts of comprehensions, are searched inside.
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


def by_trace(check: Recorded, folder: Path) -> Mapping[str, Sequence[Ran]]:
    """Return trace name -> the code that ran, for the traces of the first deeper run.

    Traces that recorded nothing of that are left out.
    """
    pairs = sorted(check.record.deeper, key=lambda pair: pair.level != "module")
    runs = next((pair.runs for pair in pairs), ())
    if not runs:
        return {}
    paths = sorted((folder / runs[0].trace).glob("*.jsonl"))
    found = {path.name: _read(path, path.stat().st_size) for path in paths}
    return {name: ran for name, ran in found.items() if ran}


def imported(check: Recorded, folder: Path) -> tuple[str, ...]:
    """Return the user's files that the first deeper run imported, in the order of import."""
    ran = chain.from_iterable(by_trace(check, folder).values())
    return tuple(dict.fromkeys(chain.from_iterable(one.files for one in ran)))


@lru_cache(maxsize=4096)
def _read(path: Path, size: int) -> tuple[Ran, ...]:
    """Return the code that ran by a trace; cached, because each report of a check reads it again.

    `size` is the size of the file in bytes, so that a trace that has grown is read again.
    """
    return read_reached(path)
