"""How much a call draws: nothing where a probability, a range or a factor is zero."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from reprocheck.scan.checks import tables
from reprocheck.scan.order import Order
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Items, Value, is_none, literal


def are_nothing(order: Order, call: Call) -> bool:
    """Return whether nothing comes of a call that draws."""
    takes = tables.amounts().get(call.name)
    if takes is not None and _is_still(call, takes.split()):
        return True
    return call.name in tables.draws() and _is_times_zero(order, call)


def _is_still(call: Call, takes: Sequence[str]) -> bool:
    """Return whether what a call takes leaves it nothing to draw."""
    given = {
        name: value
        for at, name in enumerate(takes)
        if (value := call.argument(at, name.rstrip("?~"))) and not is_none(value)
    }
    ends = [literal(value) for name, value in given.items() if name.endswith("~")]
    if len(ends) == 2:
        return ends[0] == ends[1] is not None
    chances = [value for name, value in given.items() if name.endswith("?")]
    if any(map(_is_zero, chances)):
        return True
    amounts = {name: value for name, value in given.items() if name.isidentifier() and name != "_"}
    return bool(amounts) and all(_is_fixed(name, value) for name, value in amounts.items())


def _is_zero(value: Value) -> bool:
    return literal(value) == 0


def _is_fixed(name: str, value: Value) -> bool:
    """Return whether an argument leaves no range: zero, zeros, or equal ends. The two numbers of a
    translation are no ends.
    """
    if not isinstance(value, Items):
        return _is_zero(value)
    numbers = set(map(literal, value.items))
    return numbers == {0} or (len(numbers) == 1 and None not in numbers and name != "translate")


def _is_times_zero(order: Order, call: Call) -> bool:
    """`0.0 * torch.randn(3)`, also where the factor is a variable."""
    match call.module.parent(call.node):
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            factors = map(order.value_of, (left, right))
            return any(map(_is_zero, factors))
    return False
