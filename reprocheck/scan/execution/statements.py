"""Statements, in the order of execution."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import IntEnum
from functools import reduce
from typing import Any

from reprocheck.scan.execution import calls, expressions, imports
from reprocheck.scan.execution.assign import assign, bind
from reprocheck.scan.execution.elements import element
from reprocheck.scan.execution.frame import Frame, merged
from reprocheck.scan.execution.machine import Machine
from reprocheck.scan.execution.truth import compared, truth
from reprocheck.scan.steps import Condition
from reprocheck.scan.values import UNKNOWN, Class, Constant, Function, Instance, Part, Value

ENDS = frozenset({"sys.exit", "builtins.exit", "builtins.quit", "os._exit", "os.abort"})
_KINDS = {
    "builtins.property": "property",
    "functools.cached_property": "property",
    "torch.jit.unused": "",
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
}


_OF_PROPERTIES = ("setter", "deleter", "getter")


class Flow(IntEnum):
    """How a statement is left."""

    NEXT = 0
    JUMP = 1
    RETURN = 2
    RAISE = 3


def block(machine: Machine, frame: Frame, body: list[ast.stmt]) -> Flow:
    """Statements one after the other, until one of them leaves."""
    for statement in body:
        flow = _STATEMENTS.get(type(statement), _nothing)(machine, frame, statement)
        if flow:
            return flow
    return Flow.NEXT


def _nothing(machine: Machine, frame: Frame, node: ast.stmt) -> Flow:
    return Flow.NEXT


def _expression(machine: Machine, frame: Frame, node: ast.Expr) -> Flow:
    value = expressions.evaluate(machine, frame, node.value)
    if isinstance(node.value, ast.Call) and value.made_by(*ENDS) is not None:
        return Flow.RAISE
    return Flow.NEXT


def _assign(machine: Machine, frame: Frame, node: ast.Assign) -> Flow:
    value = expressions.evaluate(machine, frame, node.value)
    for target in node.targets:
        assign(machine, frame, target, value)
    return Flow.NEXT


def _annotated(machine: Machine, frame: Frame, node: ast.AnnAssign) -> Flow:
    if node.value is not None:
        assign(machine, frame, node.target, expressions.evaluate(machine, frame, node.value))
    return Flow.NEXT


def _augmented(machine: Machine, frame: Frame, node: ast.AugAssign) -> Flow:
    added = expressions.evaluate(machine, frame, node.value)
    before = expressions.evaluate(machine, frame, node.target)
    assign(machine, frame, node.target, expressions.combined(type(node.op).__name__, before, added))
    return Flow.NEXT


def _delete(machine: Machine, frame: Frame, node: ast.Delete) -> Flow:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.variables.pop(target.id, None)
        else:
            expressions.evaluate(machine, frame, target)
    return Flow.NEXT


def _return(machine: Machine, frame: Frame, node: ast.Return) -> Flow:
    value: Value = Constant(None)
    if node.value is not None:
        value = expressions.evaluate(machine, frame, node.value)
    frame.returns.append(value)
    return Flow.RETURN


def _raise(machine: Machine, frame: Frame, node: ast.Raise) -> Flow:
    if node.exc is not None:
        expressions.evaluate(machine, frame, node.exc)
    return Flow.RAISE


def _jump(machine: Machine, frame: Frame, node: ast.stmt) -> Flow:
    return Flow.JUMP


def _assert(machine: Machine, frame: Frame, node: ast.Assert) -> Flow:
    expressions.evaluate(machine, frame, node.test)
    return Flow.NEXT


# ----------------------------------------------------------------------------------------- branches


def _if(machine: Machine, frame: Frame, node: ast.If) -> Flow:
    known = truth(expressions.evaluate(machine, frame, node.test))
    if known is True:
        return block(machine, frame, node.body)
    if known is False:
        return block(machine, frame, node.orelse)
    return _branches(
        machine,
        frame,
        node.test,
        lambda: block(machine, frame, node.body),
        lambda: block(machine, frame, node.orelse),
    )


def _branches(
    machine: Machine,
    frame: Frame,
    test: ast.AST,
    one: Callable[[], Flow],
    other: Callable[[], Flow],
) -> Flow:
    """Both branches of a condition. After one that leaves, what follows stands under the other."""
    before = dict(frame.variables)
    with machine.under(Condition(test, True)):
        first = one()
    after_first, frame.variables = frame.variables, before
    with machine.under(Condition(test, False)):
        second = other()
    if first and second:
        return min(first, second)
    if first:
        if first != Flow.RAISE:
            machine.conditions = (*machine.conditions, Condition(test, False))
        return Flow.NEXT
    if second:
        if second != Flow.RAISE:
            machine.conditions = (*machine.conditions, Condition(test, True))
        frame.variables = after_first
        return Flow.NEXT
    frame.variables = merged(after_first, frame.variables)
    return Flow.NEXT


def _try(machine: Machine, frame: Frame, node: ast.Try) -> Flow:
    flow = block(machine, frame, [*node.body, *node.orelse])
    after = frame.variables
    flows = [flow]
    for handler in node.handlers:
        frame.variables = dict(after)
        with machine.under(Condition(handler, True)):
            if handler.type is not None:
                expressions.evaluate(machine, frame, handler.type)
            if handler.name:
                bind(machine, frame, handler.name, UNKNOWN)
            left = block(machine, frame, handler.body)
        flows.append(left)
        if left:
            continue
        reached = frame.variables
        if not flow:
            # what follows is reached by the body as well
            reached = merged(after, reached)
        after = reached
    frame.variables = after
    final = block(machine, frame, node.finalbody)
    if final:
        return final
    if flow and not all(flows):
        machine.conditions = (*machine.conditions, Condition(node, False))
        return Flow.NEXT
    return flow


def _match(machine: Machine, frame: Frame, node: ast.Match) -> Flow:
    subject = expressions.evaluate(machine, frame, node.subject)
    before = frame.variables
    left: list[dict[str, Value]] = []
    flows: list[Flow] = []
    for case in node.cases:
        if _cannot_match(subject, case.pattern):
            continue
        frame.variables = dict(before)
        with machine.under(Condition(case, True)):
            for name in _captured(case.pattern):
                bind(machine, frame, name, Part(subject, None))
            if case.guard is not None:
                expressions.evaluate(machine, frame, case.guard)
            flows.append(block(machine, frame, case.body))
        if not flows[-1]:
            left.append(frame.variables)
    if flows and not left and _takes_all(node.cases[-1]):
        return min(flows)
    frame.variables = before
    if left:
        frame.variables = merged(before, reduce(merged, left))
    return Flow.NEXT


def _captured(pattern: ast.pattern) -> list[str]:
    """The names that a pattern gives a value."""
    parts = ast.walk(pattern)
    names = [getattr(part, "name", None) or getattr(part, "rest", None) for part in parts]
    return [name for name in names if isinstance(name, str)]


def _takes_all(case: ast.match_case) -> bool:
    """`case _:`, and `case name:`."""
    match case:
        case ast.match_case(pattern=ast.MatchAs(pattern=None), guard=None):
            return True
    return False


def _cannot_match(subject: Value, pattern: ast.pattern) -> bool:
    """Whether `case None:`, `case True:` or `case False:` is for another value than this."""
    return (
        isinstance(pattern, ast.MatchSingleton)
        and compared(subject, ast.Is, Constant(pattern.value)) is False
    )


# -------------------------------------------------------------------------------------------- loops


def _for(machine: Machine, frame: Frame, node: ast.For) -> Flow:
    value = expressions.evaluate(machine, frame, node.iter)
    machine.loop(frame, node, value)
    item = element(machine, frame, node, value)
    with machine.looping():
        assign(machine, frame, node.target, item)
        flow = block(machine, frame, node.body)
    if flow >= Flow.RETURN and not node.orelse:
        return Flow.NEXT
    return block(machine, frame, node.orelse)


def _while(machine: Machine, frame: Frame, node: ast.While) -> Flow:
    known = truth(expressions.evaluate(machine, frame, node.test))
    if known is False:
        return block(machine, frame, node.orelse)
    with machine.looping():
        flow = block(machine, frame, node.body)
    if known and flow >= Flow.RETURN:
        return flow
    return block(machine, frame, node.orelse)


def _with(machine: Machine, frame: Frame, node: ast.With) -> Flow:
    contexts = []
    for item in node.items:
        value = expressions.evaluate(machine, frame, item.context_expr)
        contexts.append(value)
        entered = expressions.entered(machine, frame, item.context_expr, value)
        if item.optional_vars is not None:
            assign(machine, frame, item.optional_vars, entered)
    with machine.inside(tuple(contexts)):
        flow = block(machine, frame, node.body)
    for item, value in zip(node.items, contexts, strict=True):
        expressions.left(machine, frame, item.context_expr, value)
    return flow


# -------------------------------------------------------------------------------------- definitions


def _function(machine: Machine, frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Flow:
    function = expressions.function(machine, frame, node, node.name)
    value: Value = function
    for decorator in reversed(node.decorator_list):
        value = _decorated(machine, frame, decorator, value, function)
    bind(machine, frame, node.name, value)
    return Flow.NEXT


def _decorated(
    machine: Machine, frame: Frame, decorator: ast.expr, value: Value, function: Function
) -> Value:
    """What a decorator makes of a function: the function itself, since what it is called for
    stays.
    """
    made = expressions.evaluate(machine, frame, decorator)
    name = made.name or ""
    if name in _KINDS:
        function.kind = _KINDS[name]
    elif isinstance(decorator, ast.Attribute) and decorator.attr in _OF_PROPERTIES:
        return frame.variables.get(getattr(function.node, "name", ""), value)
    elif isinstance(made, Function | Instance):
        calls.wrap(machine, frame, decorator, made, function)
    return value


def _class(machine: Machine, frame: Frame, node: ast.ClassDef) -> Flow:
    bases = tuple(expressions.evaluate(machine, frame, base) for base in node.bases)
    for keyword in node.keywords:
        expressions.evaluate(machine, frame, keyword.value)
    for decorator in node.decorator_list:
        expressions.evaluate(machine, frame, decorator)
    inner = Frame(module=frame.module, node=node, around=frame, qualified=frame.name_of(node.name))
    made = Class(node, frame.module, inner.qualified, bases, inner.variables)
    inner.of_class = made
    block(machine, inner, node.body)
    made.attributes = inner.variables
    bind(machine, frame, node.name, made)
    return Flow.NEXT


def _global(machine: Machine, frame: Frame, node: ast.Global) -> Flow:
    frame.outer.update(dict.fromkeys(node.names, True))
    return Flow.NEXT


def _nonlocal(machine: Machine, frame: Frame, node: ast.Nonlocal) -> Flow:
    frame.outer.update(dict.fromkeys(node.names, False))
    return Flow.NEXT


def _import(machine: Machine, frame: Frame, node: ast.Import) -> Flow:
    imports.whole(machine, frame, node)
    return Flow.NEXT


def _import_from(machine: Machine, frame: Frame, node: ast.ImportFrom) -> Flow:
    imports.names(machine, frame, node)
    return Flow.NEXT


_STATEMENTS: dict[type[ast.AST], Callable[[Machine, Frame, Any], Flow]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Assert: _assert,
    ast.If: _if,
    ast.Try: _try,
    ast.Match: _match,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = _try
