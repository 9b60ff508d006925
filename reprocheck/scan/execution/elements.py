"""What a loop gives from one turn to the next."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reprocheck.scan.execution import pending
from reprocheck.scan.execution.bound import bound_to
from reprocheck.scan.values import UNKNOWN, Function, Instance, Items, Made, Part, Value, either

if TYPE_CHECKING:
    from reprocheck.scan.execution.frame import Frame
    from reprocheck.scan.execution.machine import Machine

_SAME = (
    "builtins.iter",
    "builtins.reversed",
    "builtins.sorted",
    "builtins.list",
    "builtins.tuple",
    "builtins.set",
    "tqdm.tqdm",
    "tqdm.auto.tqdm",
)

EACH = "[]"
"""The fact of a library's container under which the one value stands that all its items share."""


def element(machine: Machine, frame: Frame, node: ast.AST, value: Value) -> Value:
    """What a loop over a value gives: an item of it, the same for all turns.

    What a library does to get at one happens now.
    """
    found: list[Value] = []
    for option in value.options():
        if isinstance(option, Items):
            items = option.keys if option.kind == "dict" else option.items
            found.append(either(items) if option.items else UNKNOWN)
        elif isinstance(option, Instance):
            found.append(_of_instance(machine, frame, node, option))
        elif isinstance(option, Made):
            pending.run(machine, frame, option)
            found.append(_of_made(machine, frame, node, option))
        else:
            found.append(Part(option, None))
    return either(found)


def _of_made(machine: Machine, frame: Frame, node: ast.AST, value: Made) -> Value:
    """`enumerate`, `zip`, `items()` and what only changes the order are seen through."""
    call = value.call
    if call.name == "builtins.zip" and not call.open:
        return Items("tuple", [element(machine, frame, node, one) for one in call.arguments])
    if call.method in ("items", "values"):
        return _of_dict(value)
    first = call.arguments[0] if call.arguments else None
    if call.name == "builtins.enumerate" and first is not None:
        return Items("tuple", [Part(value, None), element(machine, frame, node, first)])
    if call.name in _SAME and isinstance(first, Items):
        return element(machine, frame, node, first)
    return Part(value, None)


def _of_dict(value: Made) -> Value:
    """What a loop over `whole.items()` or `whole.values()` gives."""
    key: Value = Part(value, None)
    match value.call.receiver:
        case Items(kind="dict", keys=keys, items=items):
            key, held = either(keys), either(items)
        case Made(facts=facts) if EACH in facts:
            held = facts[EACH]
        case _:
            return key
    return held if value.call.method == "values" else Items("tuple", [key, held])


def _of_instance(machine: Machine, frame: Frame, node: ast.AST, value: Instance) -> Value:
    """What a loop over an object of the user's gives: its class says it by one of two methods."""
    for method, arguments in (("__iter__", ()), ("__getitem__", (Part(value, "index"),))):
        function = value.of.find(method)
        if not isinstance(function, Function):
            continue
        value.ran.add(method)
        bound = bound_to(function, value)
        result = machine.above.inline(machine, frame, node, bound, arguments, {}, open=False)
        if method == "__getitem__":
            return result
        if isinstance(result, Instance):
            break
        return element(machine, frame, node, result)
    return Part(value, None)
