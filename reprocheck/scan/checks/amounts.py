"""How much a call draws: nothing where a probability, a range or a factor is zero."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from reprocheck.scan.checks import tables
from reprocheck.scan.order import Order
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Items, Value, is_none, literal


def are_nothing(order: Order, call: Call) -> bool:
    """Return whether a call that draws changes nothing: probability 0, or its result times 0."""
    takes = tables.amounts().get(call.name)
    if takes is not None and _is_still(call, takes.split()):
        return True
    return call.name in tables.draws() and _is_times_zero(order, call)


def _is_still(call: Call, takes: Sequence[str]) -> bool:
    """Return whether the arguments of a call leave nothing to draw: a probability of 0, equal ends.

    `takes` names the parameters in order; `?` marks a probability, `~` an end of a range, and `_` a
    parameter that does not count.
    """
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
    """Return whether an argument leaves no range to draw from: zero, zeros, or two equal ends.

    The two numbers of `translate` are one range for each axis, so that equal numbers are no ends.
    """
    if not isinstance(value, Items):
        return _is_zero(value)
    numbers = set(map(literal, value.items))
    return numbers == {0} or (len(numbers) == 1 and None not in numbers and name != "translate")


def _is_times_zero(order: Order, call: Call) -> bool:
    """Return whether the result of a call is multiplied by 0, as `0.0 * torch.randn(3)`, or by a
    variable that holds 0.
    """
    match call.module.parent(call.node):
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            factors = map(order.value_of, (left, right))
            return any(map(_is_zero, factors))
    return False
