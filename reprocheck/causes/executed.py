"""Whether a line was executed, as far as the recorded runs show it: from the lines that were seen
under way and the functions that ran.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reprocheck.model.static import Executed
from reprocheck.trace.reached import Ran

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_CODE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CONDITIONAL = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Match, ast.ExceptHandler)


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


def place(tree: ast.Module, line: int) -> Place:
    """Where a line of a file stands."""
    function: _Function | None = None
    blocks: list[tuple[int, int]] = []
    conditional = left_early = guarded = False
    body: Sequence[ast.stmt] | None = tree.body
    while body is not None:
        index = next(
            (
                index
                for index, one in enumerate(body)
                if _first(one) <= line <= (one.end_lineno or one.lineno)
            ),
            None,
        )
        if index is None:
            break
        blocks.append((id(body), index))
        conditional = conditional or (guarded and index > 0)
        left_early = left_early or (
            function is not None and any(_leaves(one) for one in body[:index])
        )
        statement, body = body[index], None
        for block, owner in _inner(statement):
            if block and _first(block[0]) <= line <= (block[-1].end_lineno or block[-1].lineno):
                body = block
                guarded = (
                    isinstance(owner, ast.Try) and bool(owner.handlers) and block is owner.body
                )
                if isinstance(owner, _Function):
                    function, blocks, conditional, left_early = owner, [], False, False
                else:
                    conditional = (
                        conditional
                        or isinstance(owner, _CONDITIONAL)
                        or getattr(owner, "orelse", None) is block
                    )
                break
    return Place(function=function, blocks=tuple(blocks), conditional=conditional or left_early)


def executed(
    tree: ast.Module,
    file: str,
    line: int,
    ran: Sequence[Ran],
    *,
    script: bool,
    offset: int | None = None,
) -> tuple[Executed, int | None]:
    """Whether a line of a file was executed, and the offset in the trace by which it was.

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
    first = (
        _first(here.function)
        if here.function is not None and not _shares_its_line(here.function)
        else None
    )
    state: Executed = "not_seen"
    for one in ran:
        for name, other in one.lines:
            if name == file and _left_out(tree, line, other):
                return "not_executed", None
            if name == file and (there := place(tree, other)).function is here.function:
                if _passed(here, there):
                    return "executed", one.at
                state = "entered" if there.blocks[:1] >= here.blocks[:1] else state
        left = (
            (file, first) in one.done
            if here.function is not None
            else not script and file in one.files
        )
        if left and not here.conditional:
            return "executed", one.at
        state = "entered" if left else state
    return state, None


def _left_out(tree: ast.Module, line: int, other: int) -> bool:
    """Whether a line cannot run where another was under way: it is in the other branch of an `if`
    that runs once.
    """
    body: list[ast.stmt] = tree.body
    while True:
        statement = _holding(body, line)
        if statement is None or statement is not _holding(body, other):
            return False
        if isinstance(statement, ast.With):
            body = statement.body
            continue
        if not isinstance(statement, ast.If):
            return False
        mine, theirs = _branch(statement, line), _branch(statement, other)
        if mine is None or theirs is None:
            return False
        if mine is not theirs:
            return True
        body = mine


def _holding(body: Sequence[ast.stmt], line: int) -> ast.stmt | None:
    """The statement of a block that a line stands in."""
    return next(
        (one for one in body if _first(one) <= line <= (one.end_lineno or one.lineno)), None
    )


def _branch(statement: ast.If, line: int) -> list[ast.stmt] | None:
    """The branch of an `if` that a line stands in; None for its condition."""
    return next(
        (
            block
            for block in (statement.body, statement.orelse)
            if _holding(block, line) is not None
        ),
        None,
    )


def _passed(here: Place, there: Place) -> bool:
    """Whether the statement at `here` was begun when the one at `there` is: it stands before it in
    a block that both share.
    """
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


def _shares_its_line(function: _Function) -> bool:
    """Whether other code begins on the first line of a function, in its decorators or defaults:
    what ran is known by that line alone.
    """
    first = _first(function)
    around = [*function.decorator_list, function.args]
    return any(
        isinstance(node, _CODE) and node.lineno == first for one in around for node in ast.walk(one)
    )


def _is_put_off(tree: ast.Module, line: int, offset: int) -> bool:
    """Whether an expression is not evaluated whenever its statement is: in a lambda, a branch, a
    generator that is kept, or behind `and` and `or`.
    """
    at: ast.AST | None = tree
    while at is not None:
        child = next((one for one in ast.iter_child_nodes(at) if _holds(one, line, offset)), None)
        if child is not None and any(child is one for one in _put_off(at)):
            return True
        if (
            isinstance(child, ast.Call)
            and len(child.args) == 1
            and isinstance(child.args[0], ast.GeneratorExp)
        ):
            child = child.args[0].elt if _holds(child.args[0].elt, line, offset) else child
        at = child
    return False


def _holds(node: ast.AST, line: int, offset: int) -> bool:
    """Whether an expression begins in a node.

    What has no place of its own, as arguments and parts of comprehensions, is looked into.
    """
    end_line, end_offset = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    if end_line is None or end_offset is None:
        return any(_holds(one, line, offset) for one in ast.iter_child_nodes(node))
    begins = (
        _first(node),
        0 if isinstance(node, _Function | ast.ClassDef) else getattr(node, "col_offset", 0),
    )
    return begins <= (line, offset) < (end_line, end_offset)


def _put_off(node: ast.AST) -> Sequence[ast.AST]:
    """The parts of an expression that may not be evaluated when it is."""
    if isinstance(node, ast.Lambda):
        return [node.body]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values[1:]
    if isinstance(node, ast.GeneratorExp):
        return [node.elt]
    return []
