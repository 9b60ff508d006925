"""Expressions: what each stands for, and the steps that evaluating it takes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from reprocheck.scan.aliases import BUILTINS, canonical, may_bring, starred
from reprocheck.scan.execution import calls
from reprocheck.scan.execution.assign import assign
from reprocheck.scan.execution.attributes import attribute
from reprocheck.scan.execution.bound import bound_to
from reprocheck.scan.execution.elements import EACH, element
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
    Instance,
    Items,
    Made,
    Package,
    Part,
    Value,
    either,
)


def evaluate(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    """What an expression stands for."""
    machine.spend()
    value = _EXPRESSIONS.get(type(node), _unknown)(machine, frame, node)
    machine.values[id(node)] = value
    return value


def _unknown(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    parts = tuple(
        evaluate(machine, frame, child)
        for child in ast.iter_child_nodes(node)
        if isinstance(child, ast.expr)
    )
    return Derived(type(node).__name__, parts) if parts else UNKNOWN


def _constant(machine: Machine, frame: Frame, node: ast.Constant) -> Value:
    return Constant(node.value)


def _name(machine: Machine, frame: Frame, node: ast.Name) -> Value:
    return lookup(frame, node.id)


def lookup(frame: Frame, name: str) -> Value:
    """What a name stands for in a frame."""
    for at in frame.chain():
        if name in at.variables:
            value = at.variables[name]
            if isinstance(value, Part) and isinstance(value.whole, Package) and value.key:
                return value.whole.module.body.frame.variables.get(value.key, value)
            return value
    stars = frame.top.stars
    for star in reversed(stars):
        if starred(star, name):
            return External(canonical(f"{star}.{name}"))
    if name in BUILTINS:
        return External(f"builtins.{name}")
    found = [star for star in stars if may_bring(star, name)]
    return External(canonical(f"{found[-1]}.{name}")) if found else UNKNOWN


# --------------------------------------------------------------------------------------- attributes


def _attribute(machine: Machine, frame: Frame, node: ast.Attribute) -> Value:
    whole = evaluate(machine, frame, node.value)
    return attribute(machine, frame, node, whole, node.attr)


# ---------------------------------------------------------------------------------------- operators


def combined(kind: str, one: Value, other: Value) -> Value:
    """The result of an operator."""
    if (
        kind == "Add"
        and isinstance(one, Items)
        and isinstance(other, Items)
        and one.kind == other.kind
    ):
        return Items(
            one.kind, [*one.items, *other.items], whole=one.whole and other.whole, over=(one, other)
        )
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
        known = truth(operand)
        return Constant(not known) if known is not None else Derived("Not", (operand,))
    if (
        isinstance(node.op, ast.USub)
        and isinstance(operand, Constant)
        and isinstance(operand.value, int | float)
    ):
        return Constant(-operand.value)
    return Derived(type(node.op).__name__, (operand,))


def _boolean(machine: Machine, frame: Frame, node: ast.BoolOp) -> Value:
    """`and` and `or`: parts after the first are under its condition, and left out where a constant
    decides.
    """
    stop = isinstance(node.op, ast.Or)
    values: list[Value] = []
    before = machine.conditions
    for part in node.values:
        value = evaluate(machine, frame, part)
        known = truth(value)
        if known is stop:
            values.append(value)
            break
        if part is node.values[-1]:
            values.append(value)
        elif known is None:
            values.append(_where_true(value) if stop else value)
        if known is None:
            machine.conditions = (*machine.conditions, Condition(part, not stop))
    machine.conditions = before
    if len(values) == 1:
        return values[0]
    return either(values) if stop else Derived("And", tuple(values))


def _where_true(value: Value) -> Value:
    """What a part of an `or` can be where the whole is that part: no option of it that is false,
    and so never None.
    """
    options = [option for option in value.options() if truth(option) is not False]
    return either([Derived("Or", ()) if option is UNKNOWN else option for option in options])


def _compare(machine: Machine, frame: Frame, node: ast.Compare) -> Value:
    left = evaluate(machine, frame, node.left)
    parts = [left, *(evaluate(machine, frame, one) for one in node.comparators)]
    if len(node.ops) == 1:
        known = compared(parts[0], type(node.ops[0]), parts[1])
        if known is not None:
            return Constant(known)
    return Derived("Compare", tuple(parts))


def _conditional(machine: Machine, frame: Frame, node: ast.IfExp) -> Value:
    known = truth(evaluate(machine, frame, node.test))
    if known is not None:
        return evaluate(machine, frame, node.body if known else node.orelse)
    with machine.under(Condition(node.test, True)):
        one = evaluate(machine, frame, node.body)
    with machine.under(Condition(node.test, False)):
        other = evaluate(machine, frame, node.orelse)
    return either([one, other])


def _named(machine: Machine, frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(machine, frame, node.value)
    assign(machine, frame, node.target, value)
    return value


def _await(machine: Machine, frame: Frame, node: ast.Await | ast.Starred) -> Value:
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
    parts = [
        evaluate(machine, frame, part.value if isinstance(part, ast.FormattedValue) else part)
        for part in node.values
    ]
    if parts and all(isinstance(part, Constant) for part in parts):
        return Constant("".join(str(part.value) for part in parts if isinstance(part, Constant)))
    return Derived("format", tuple(parts))


# --------------------------------------------------------------------------------------- containers


def _display(kind: str) -> Callable[[Machine, Frame, Any], Value]:
    def evaluated(machine: Machine, frame: Frame, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items: list[Value] = []
        over: list[Value] = []
        whole = True
        for part in node.elts:
            value = evaluate(machine, frame, part)
            if isinstance(part, ast.Starred):
                if isinstance(value, Items) and value.whole and value.kind in ("list", "tuple"):
                    items += value.items
                    continue
                over.append(value)
                whole = False
            else:
                items.append(value)
        return Items(kind, items, over=tuple(over), whole=whole)

    return evaluated


def _dict(machine: Machine, frame: Frame, node: ast.Dict) -> Value:
    made = Items("dict", [])
    over: list[Value] = []
    for key, value in zip(node.keys, node.values, strict=True):
        item = evaluate(machine, frame, value)
        if key is not None:
            made.keys.append(evaluate(machine, frame, key))
            made.items.append(item)
        elif isinstance(item, Items) and item.kind == "dict":
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
    for generator in node.generators:
        value = evaluate(machine, frame if not over else inner, generator.iter)
        over.append(value)
        machine.loop(frame, node, value)
        machine.loops += 1
        assign(machine, inner, generator.target, element(machine, inner, node, value))
        for test in generator.ifs:
            evaluate(machine, inner, test)
            machine.conditions = (*machine.conditions, Condition(test, True))
    kind = {
        ast.ListComp: "list",
        ast.SetComp: "set",
        ast.GeneratorExp: "generator",
        ast.DictComp: "dict",
    }[type(node)]
    made = Items(kind, [], over=tuple(over), whole=False)
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
    found: list[Value] = []
    for option in whole.options():
        if isinstance(node.slice, ast.Slice) and isinstance(option, Items | Made):
            found.append(
                Items("list", list(option.items), over=(option,), whole=False)
                if isinstance(option, Items)
                else Part(option, None)
            )
        elif isinstance(option, Items):
            item = option.get(key.value) if isinstance(key, Constant) else None
            found.append(item or Part(option, None))
        elif isinstance(option, Instance) and isinstance(
            method := option.of.find("__getitem__"), Function
        ):
            option.ran.add("__getitem__")
            found.append(
                calls.inline(machine, frame, node, bound_to(method, option), (key,), {}, open=False)
            )
        elif isinstance(option, Made) and EACH in option.facts:
            found.append(option.facts[EACH])
        else:
            drawn = not isinstance(key, Constant) and next(key.calls(), None) is not None
            found.append(
                Derived("item", (Part(option, None), key)) if drawn else Part(option, None)
            )
    return either(found)


def _slice(machine: Machine, frame: Frame, node: ast.Slice) -> Value:
    parts = [
        evaluate(machine, frame, part)
        for part in (node.lower, node.upper, node.step)
        if part is not None
    ]
    return Derived("Slice", tuple(parts))


# ---------------------------------------------------------------------------------------- functions


def function(
    machine: Machine,
    frame: Frame,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    name: str,
) -> Function:
    """A function as it is defined: defaults are evaluated now."""
    made = Function(
        node=node,
        module=frame.module,
        around=frame,
        qualified=frame.name_of(name),
        of_class=frame.of_class if frame.is_class else None,
        defaults=tuple(evaluate(machine, frame, default) for default in node.args.defaults),
        keyword_defaults=tuple(
            evaluate(machine, frame, one) if one is not None else None
            for one in node.args.kw_defaults
        ),
    )
    if frame.around is not None and not frame.is_class:
        machine.closures.append(made)
    return made


def _lambda(machine: Machine, frame: Frame, node: ast.Lambda) -> Value:
    return function(machine, frame, node, "<lambda>")


def _call(machine: Machine, frame: Frame, node: ast.Call) -> Value:
    return calls.evaluate_call(machine, frame, node)


def entered(machine: Machine, frame: Frame, node: ast.AST, value: Value) -> Value:
    """What `with value as name` gives the name."""
    if isinstance(value, Instance) and isinstance(method := value.of.find("__enter__"), Function):
        value.ran.add("__enter__")
        return calls.inline(machine, frame, node, bound_to(method, value), (), {}, open=False)
    if isinstance(value, Items) and value.kind == "generator" and value.items:
        return either(value.items)
    return value


def left(machine: Machine, frame: Frame, node: ast.AST, value: Value) -> None:
    """What happens at the end of a `with`."""
    if isinstance(value, Instance) and isinstance(method := value.of.find("__exit__"), Function):
        value.ran.add("__exit__")
        calls.inline(
            machine,
            frame,
            node,
            bound_to(method, value),
            (UNKNOWN, UNKNOWN, UNKNOWN),
            {},
            open=False,
        )


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
    ast.Await: _await,
    ast.Starred: _await,
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
    ast.Slice: _slice,
    ast.Lambda: _lambda,
}
