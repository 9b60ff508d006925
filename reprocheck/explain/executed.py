"""Whether a line was executed, as far as the recorded runs show it: from the lines that were seen under way and the functions that ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reprocheck.model.static import Executed
from reprocheck.trace.reached import Ran

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_CONDITIONAL = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Match, ast.ExceptHandler)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands: the innermost function (None: the top level), and the blocks from there on, outermost first.

    blocks        of each block that holds the line: its id, and which of its statements
    conditional   whether it may be passed over although the function runs
    """

    function: _Function | None
    blocks: tuple[tuple[int, int], ...]
    conditional: bool


def place(tree: ast.Module, line: int) -> Place:
    """Where a line of a file stands."""
    function: _Function | None = None
    blocks: list[tuple[int, int]] = []
    conditional = left_early = False
    body: Sequence[ast.stmt] | None = tree.body
    while body is not None:
        index = next((index for index, one in enumerate(body) if _first(one) <= line <= (one.end_lineno or one.lineno)), None)
        if index is None:
            break
        blocks.append((id(body), index))
        left_early = left_early or (function is not None and any(_leaves(one) for one in body[:index]))
        statement, body = body[index], None
        for block, owner in _inner(statement):
            if block and _first(block[0]) <= line <= (block[-1].end_lineno or block[-1].lineno):
                body = block
                if isinstance(owner, _Function):
                    function, blocks, conditional, left_early = owner, [], False, False
                else:
                    conditional = conditional or isinstance(owner, _CONDITIONAL) or getattr(owner, "orelse", None) is block
                break
    return Place(function=function, blocks=tuple(blocks), conditional=conditional or left_early)


def executed(tree: ast.Module, file: str, line: int, ran: Sequence[Ran], *, script: bool) -> tuple[Executed, int | None]:
    """Whether a line of a file was executed, and the offset in the trace by which it was; `script`: of the program itself."""
    here = place(tree, line)
    first = _first(here.function) if here.function is not None else None
    state: Executed = "not_seen"
    for one in ran:
        for name, other in one.lines:
            if name == file and (there := place(tree, other)).function is here.function:
                if _passed(here, there):
                    return "executed", one.at
                state = "entered" if there.blocks[:1] >= here.blocks[:1] else state
        left = (file, first) in one.done if first is not None else not script and file in one.files
        if left and not here.conditional:
            return "executed", one.at
        state = "entered" if left else state
    return state, None


def _passed(here: Place, there: Place) -> bool:
    """Whether the statement at `here` was begun when the one at `there` is: it stands before it in a block that both share."""
    if not here.blocks:
        return False
    block, index = here.blocks[-1]
    return any(other == block and number >= index for other, number in there.blocks)


def _first(node: ast.AST) -> int:
    """The first line of a statement, decorators counted."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", None) or []
    line: int = getattr(node, "lineno", 0)
    return min([line, *(one.lineno for one in decorators)])


def _inner(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], ast.AST]]:
    """The blocks right inside a statement, each with what it belongs to."""
    for owner in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(owner, name, None)
            if isinstance(block, list):
                yield block, statement if isinstance(owner, ast.match_case) else owner


def _leaves(statement: ast.stmt) -> bool:
    """Whether a function may end within a statement before its end."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return | ast.Raise):
            return True
        if not isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return False
