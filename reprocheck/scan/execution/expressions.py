"""Expressions: what each stands for, and the steps that evaluating it takes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from reprocheck.scan.aliases import free_name
from reprocheck.scan.execution import calls
from reprocheck.scan.execution.assign import assign
from reprocheck.scan.execution.attributes import attribute
from reprocheck.scan.execution.elements import EACH, element, spelled_out
from reprocheck.scan.execution.frame import Frame
from reprocheck.scan.execution.machine import Machine
from reprocheck.scan.execution.truth import compared, computed, truth
from reprocheck.scan.steps import Condition
from reprocheck.scan.values import (
    UNKNOWN,
    Constant,
    Derived,
    External,
    Function,
    Items,
    Made,
    Package,
    Part,
    Value,
    are_constants,
    either,
)

MOST_ITEMS = 1_000
"""Items of a list that is put together of two: a list that grows with each line would take the
square of their number.
"""


def evaluate(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    """What an expression stands for."""
    machine.spend()
    value = _EXPRESSIONS.get(type(node), _unknown)(machine, frame, node)
    machine.values[id(node)] = value
    return value


def _unknown(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    children = ast.iter_child_nodes(node)
    inner = [child for child in children if isinstance(child, ast.expr)]
    if not inner:
        return UNKNOWN
    parts = [evaluate(machine, frame, child) for child in inner]
    return Derived(type(node).__name__, tuple(parts))


def _constant(machine: Machine, frame: Frame, node: ast.Constant) -> Value:
    return Constant(node.value)


def _name(machine: Machine, frame: Frame, node: ast.Name) -> Value:
    return lookup(frame, node.id)


def lookup(frame: Frame, name: str) -> Value:
    """What a name stands for in a frame."""
    for at in frame.chain():
        if name in at.variables:
            return _current(at.variables[name])
    found = free_name(name, frame.top.stars)
    if found is None:
        return UNKNOWN
    return External(found)


def _current(value: Value) -> Value:
    """What a module of the user's holds by now under a name that it did not hold when another one
    imported that.
    """
    match value:
        case Part(whole=Package(module=module), key=str() as key):
            return module.body.frame.variables.get(key, value)
    return value


# --------------------------------------------------------------------------------------- attributes


def _attribute(machine: Machine, frame: Frame, node: ast.Attribute) -> Value:
    whole = evaluate(machine, frame, node.value)
    return attribute(machine, frame, node, whole, node.attr)


# ---------------------------------------------------------------------------------------- operators


def combined(kind: str, one: Value, other: Value) -> Value:
    """The result of an operator."""
    match kind, one, other:
        case "Add", Items(), Items() if one.kind == other.kind:
            items = [*one.items, *other.items]
            is_whole = one.whole and other.whole and len(items) <= MOST_ITEMS
            return Items(one.kind, items[:MOST_ITEMS], whole=is_whole, over=(one, other))
    return computed(kind, one, other)


def _binary(machine: Machine, frame: Frame, node: ast.BinOp) -> Value:
    operators: list[str] = []
    operands: list[Value] = []
    at: ast.expr = node
    chain: list[ast.BinOp] = []
    while isinstance(at, ast.BinOp):
        chain.append(at)
        at = at.left
    operands.append(evaluate(machine, frame, at))
    for step in reversed(chain):
        operators.append(type(step.op).__name__)
        operands.append(evaluate(machine, frame, step.right))
    value = operands[0]
    for operator, operand in zip(operators, operands[1:], strict=True):
        value = combined(operator, value, operand)
    return value


def _unary(machine: Machine, frame: Frame, node: ast.UnaryOp) -> Value:
    operand = evaluate(machine, frame, node.operand)
    if isinstance(node.op, ast.Not):
        return _negated(operand)
    match node.op, operand:
        case ast.USub(), Constant(value=int() | float() as number):
            return Constant(-number)
    return Derived(type(node.op).__name__, (operand,))


def _negated(operand: Value) -> Value:
    known = truth(operand)
    if known is None:
        return Derived("Not", (operand,))
    return Constant(not known)


def _boolean(machine: Machine, frame: Frame, node: ast.BoolOp) -> Value:
    """`and` and `or`: parts after the first are under its condition, and left out where a constant
    decides.
    """
    stop, kept = _DECIDED[type(node.op)]
    values: list[Value] = []
    before = machine.conditions
    *others, last = node.values
    for part in others:
        value = evaluate(machine, frame, part)
        known = truth(value)
        if known is stop:
            values.append(value)
            break
        if known is None:
            values.append(kept(value))
            machine.conditions = (*machine.conditions, Condition(part, not stop))
    else:
        values.append(evaluate(machine, frame, last))
    machine.conditions = before
    if len(values) == 1:
        return values[0]
    if stop:
        return either(values)
    return Derived("And", tuple(values))


def _as_it_is(value: Value) -> Value:
    return value


def _where_true(value: Value) -> Value:
    """What a part of an `or` can be where the whole is that part: no option of it that is false,
    and so never None.
    """
    options = [option for option in value.options() if truth(option) is not False]
    return either([Derived("Or", ()) if option is UNKNOWN else option for option in options])


_DECIDED: dict[type[ast.boolop], tuple[bool, Callable[[Value], Value]]] = {
    ast.Or: (True, _where_true),
    ast.And: (False, _as_it_is),
}
"""What a part must be to decide the whole, and what one that may decide it adds to the result."""


def _compare(machine: Machine, frame: Frame, node: ast.Compare) -> Value:
    left = evaluate(machine, frame, node.left)
    others = [evaluate(machine, frame, one) for one in node.comparators]
    known = None
    if len(others) == 1:
        known = compared(left, type(node.ops[0]), others[0])
    if known is None:
        return Derived("Compare", (left, *others))
    return Constant(known)


def _conditional(machine: Machine, frame: Frame, node: ast.IfExp) -> Value:
    known = truth(evaluate(machine, frame, node.test))
    if known is True:
        return evaluate(machine, frame, node.body)
    if known is False:
        return evaluate(machine, frame, node.orelse)
    with machine.under(Condition(node.test, True)):
        one = evaluate(machine, frame, node.body)
    with machine.under(Condition(node.test, False)):
        other = evaluate(machine, frame, node.orelse)
    return either([one, other])


def _named(machine: Machine, frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(machine, frame, node.value)
    assign(machine, frame, node.target, value)
    return value


def _inner(
    machine: Machine, frame: Frame, node: ast.Await | ast.Starred | ast.FormattedValue
) -> Value:
    return evaluate(machine, frame, node.value)


def _yield(machine: Machine, frame: Frame, node: ast.Yield) -> Value:
    frame.generator = True
    if node.value is not None:
        frame.yields.append(evaluate(machine, frame, node.value))
    return UNKNOWN


def _yield_from(machine: Machine, frame: Frame, node: ast.YieldFrom) -> Value:
    frame.generator = True
    frame.yields.append(element(machine, frame, node, evaluate(machine, frame, node.value)))
    return UNKNOWN


def _formatted(machine: Machine, frame: Frame, node: ast.JoinedStr) -> Value:
    parts = [evaluate(machine, frame, part) for part in node.values]
    if parts and are_constants(parts):
        return Constant("".join(str(part.value) for part in parts))
    return Derived("format", tuple(parts))


# --------------------------------------------------------------------------------------- containers


def _display(kind: str) -> Callable[[Machine, Frame, Any], Value]:
    def evaluated(machine: Machine, frame: Frame, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items, hidden = spelled_out(machine, frame, node.elts)
        return Items(kind, items, over=tuple(hidden), whole=not hidden)

    return evaluated


def _dict(machine: Machine, frame: Frame, node: ast.Dict) -> Value:
    made = Items("dict", [])
    over: list[Value] = []
    for key, value in zip(node.keys, node.values, strict=True):
        item = evaluate(machine, frame, value)
        if key is not None:
            made.keys.append(evaluate(machine, frame, key))
            made.items.append(item)
        elif isinstance(item, Items) and item.is_dict:
            made.keys += item.keys
            made.items += item.items
        else:
            over.append(item)
            made.whole = False
    made.over = tuple(over)
    return made


def _comprehension(
    machine: Machine,
    frame: Frame,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
) -> Value:
    inner = Frame(
        module=frame.module,
        node=node,
        around=frame,
        qualified=frame.qualified,
        of_class=frame.of_class,
        receiver=frame.receiver,
    )
    over: list[Value] = []
    conditions = machine.conditions
    loops = machine.loops
    at = frame
    for generator in node.generators:
        value = evaluate(machine, at, generator.iter)
        at = inner
        over.append(value)
        machine.loop(frame, node, value)
        machine.loops += 1
        assign(machine, inner, generator.target, element(machine, inner, node, value))
        for test in generator.ifs:
            evaluate(machine, inner, test)
            machine.conditions = (*machine.conditions, Condition(test, True))
    made = Items(_COMPREHENSIONS[type(node)], [], over=tuple(over), whole=False)
    if isinstance(node, ast.DictComp):
        made.keys.append(evaluate(machine, inner, node.key))
        made.items.append(evaluate(machine, inner, node.value))
    else:
        made.items.append(evaluate(machine, inner, node.elt))
    machine.conditions, machine.loops = conditions, loops
    return made


def _subscript(machine: Machine, frame: Frame, node: ast.Subscript) -> Value:
    whole = evaluate(machine, frame, node.value)
    key = evaluate(machine, frame, node.slice)
    item = _item
    if isinstance(node.slice, ast.Slice):
        item = _slice
    return either([item(machine, frame, node, option, key) for option in whole.options()])


def _slice(machine: Machine, frame: Frame, node: ast.AST, whole: Value, key: Value) -> Value:
    """`whole[key]` where the key is a slice."""
    match whole:
        case Items():
            return Items("list", list(whole.items), over=(whole,), whole=False)
        case Made():
            return Part(whole, None)
    return _item(machine, frame, node, whole, key)


def _item(machine: Machine, frame: Frame, node: ast.AST, whole: Value, key: Value) -> Value:
    """`whole[key]`."""
    if isinstance(whole, Items):
        return whole.get(key) or Part(whole, None)
    given = calls.method(machine, frame, node, whole, "__getitem__", (key,))
    if given is not None:
        return given
    if isinstance(whole, Made) and EACH in whole.facts:
        return whole.facts[EACH]
    if isinstance(key, Constant) or next(key.calls(), None) is None:
        return Part(whole, None)
    # a drawn index: what it gives depends on the draw
    return Derived("item", (Part(whole, None), key))


# ---------------------------------------------------------------------------------------- functions


def function(
    machine: Machine,
    frame: Frame,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    name: str,
) -> Function:
    """A function as it is defined: defaults are evaluated now."""
    parameters = node.args
    keyword_defaults: list[Value | None] = []
    defaults = [evaluate(machine, frame, default) for default in parameters.defaults]
    for default in parameters.kw_defaults:
        value = None
        if default is not None:
            value = evaluate(machine, frame, default)
        keyword_defaults.append(value)
    made = Function(
        node=node,
        module=frame.module,
        around=frame,
        qualified=frame.name_of(name),
        defaults=tuple(defaults),
        keyword_defaults=tuple(keyword_defaults),
    )
    if frame.is_class:
        made.of_class = frame.of_class
    elif frame.around is not None:
        machine.closures.append(made)
    return made


def _lambda(machine: Machine, frame: Frame, node: ast.Lambda) -> Value:
    return function(machine, frame, node, "<lambda>")


def _call(machine: Machine, frame: Frame, node: ast.Call) -> Value:
    return calls.evaluate_call(machine, frame, node)


def entered(machine: Machine, frame: Frame, node: ast.AST, value: Value) -> Value:
    """What `with value as name` gives the name."""
    given = calls.method(machine, frame, node, value, "__enter__")
    if given is not None:
        return given
    match value:
        case Items(kind="generator", items=[_, *_] as items):
            return either(items)
    return value


def left(machine: Machine, frame: Frame, node: ast.AST, value: Value) -> None:
    """What happens at the end of a `with`."""
    calls.method(machine, frame, node, value, "__exit__", (UNKNOWN, UNKNOWN, UNKNOWN))


_COMPREHENSIONS: dict[type[ast.expr], str] = {
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.GeneratorExp: "generator",
    ast.DictComp: "dict",
}
_EXPRESSIONS: dict[type[ast.AST], Callable[[Machine, Frame, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.NamedExpr: _named,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.FormattedValue: _inner,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.JoinedStr: _formatted,
    ast.List: _display("list"),
    ast.Tuple: _display("tuple"),
    ast.Set: _display("set"),
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Subscript: _subscript,
    ast.Lambda: _lambda,
}
