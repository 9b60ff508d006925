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
    first = call.arguments[0] if call.arguments else None
    if call.name == "builtins.enumerate" and first is not None:
        return Items("tuple", [Part(value, None), element(machine, frame, node, first)])
    if call.name == "builtins.zip" and not call.open:
        return Items("tuple", [element(machine, frame, node, one) for one in call.arguments])
    if call.name in _SAME and isinstance(first, Items):
        return element(machine, frame, node, first)
    if call.method == "items" and isinstance(call.receiver, Items) and call.receiver.kind == "dict":
        return Items("tuple", [either(call.receiver.keys), either(call.receiver.items)])
    if (
        call.method == "values"
        and isinstance(call.receiver, Items)
        and call.receiver.kind == "dict"
    ):
        return either(call.receiver.items)
    if (
        call.method in ("items", "values")
        and isinstance(call.receiver, Made)
        and EACH in call.receiver.facts
    ):
        held = call.receiver.facts[EACH]
        return held if call.method == "values" else Items("tuple", [Part(value, None), held])
    return Part(value, None)


def _of_instance(machine: Machine, frame: Frame, node: ast.AST, value: Instance) -> Value:
    for method in ("__iter__", "__getitem__"):
        function = value.of.find(method)
        if isinstance(function, Function):
            value.ran.add(method)
            bound = bound_to(function, value)
            result = machine.above.inline(
                machine,
                frame,
                node,
                bound,
                (Part(value, "index"),) if method == "__getitem__" else (),
                {},
                open=False,
            )
            if method == "__getitem__":
                return result
            return (
                element(machine, frame, node, result)
                if not isinstance(result, Instance)
                else Part(value, None)
            )
    return Part(value, None)
