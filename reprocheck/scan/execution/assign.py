"""Assignments: to names, attributes, items, and several at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reprocheck.scan.values import (
    Class,
    Constant,
    Either,
    External,
    Instance,
    Items,
    Made,
    Package,
    Part,
    Value,
    either,
)

if TYPE_CHECKING:
    from reprocheck.scan.execution.frame import Frame
    from reprocheck.scan.execution.machine import Machine


def assign(machine: Machine, frame: Frame, target: ast.expr, value: Value) -> None:
    """Gives a value to a target."""
    if isinstance(target, ast.Name):
        bind(machine, frame, target.id, value)
        machine.values[id(target)] = value
    elif isinstance(target, ast.Tuple | ast.List):
        for part, item in zip(target.elts, _unpacked(target.elts, value), strict=True):
            assign(machine, frame, part, item)
    elif isinstance(target, ast.Starred):
        assign(machine, frame, target.value, value)
    elif isinstance(target, ast.Attribute):
        for option in machine.above.evaluate(machine, frame, target.value).options():
            set_attribute(machine, frame, target, option, target.attr, value)
    elif isinstance(target, ast.Subscript):
        whole = machine.above.evaluate(machine, frame, target.value)
        key = machine.above.evaluate(machine, frame, target.slice)
        for option in whole.options():
            set_item(machine, frame, target, option, key, value)


def bind(machine: Machine, frame: Frame, name: str, value: Value) -> None:
    """Gives a value to a name.

    Under a condition, a name of a frame around keeps what it had as well.
    """
    holder = frame.holder(name)
    if holder is not frame and machine.conditions and name in holder.variables:
        value = either([value, holder.variables[name]])
    holder.variables[name] = value


def set_attribute(
    machine: Machine, frame: Frame, node: ast.AST, whole: Value, attribute: str, value: Value
) -> None:
    """Gives a value to an attribute; of something of a library, that is a step."""
    if isinstance(whole, Instance):
        before = whole.attributes.get(attribute)
        whole.attributes[attribute] = (
            either([value, before]) if before is not None and machine.conditions else value
        )
        if whole.of.external_bases():
            machine.store(frame, node, f"{whole.library_name}.{attribute}", value, whole)
    elif isinstance(whole, Class):
        whole.attributes[attribute] = value
    elif isinstance(whole, Package):
        whole.module.body.frame.variables[attribute] = value
    else:
        if isinstance(whole, Made):
            whole.facts[attribute] = value
        name = (
            _dotted(whole, attribute)
            if isinstance(whole, External)
            else Part(whole, attribute).name or attribute
        )
        machine.store(frame, node, name, value, whole)


def set_item(
    machine: Machine, frame: Frame, node: ast.AST, whole: Value, key: Value, value: Value
) -> None:
    """Gives a value to an item."""
    if isinstance(whole, Items):
        whole.items.append(value)
        if whole.kind == "dict":
            whole.keys.append(key)
        else:
            whole.whole = False
        return
    name = whole.name or "?"
    shown = key.value if isinstance(key, Constant) else ""
    machine.store(frame, node, f"{name}[{shown}]", value, whole)


def _dotted(whole: External, attribute: str) -> str:
    from reprocheck.scan.aliases import canonical

    return canonical(f"{whole.dotted}.{attribute}")


def _unpacked(targets: list[ast.expr], value: Value) -> list[Value]:
    """What each target of an unpacking gets."""
    options = value.options() if isinstance(value, Either) else (value,)
    spelled = [
        option.items
        for option in options
        if isinstance(option, Items)
        and option.whole
        and option.kind in ("list", "tuple")
        and len(option.items) == len(targets)
    ]
    if (
        spelled
        and len(spelled) == len(options)
        and not any(isinstance(target, ast.Starred) for target in targets)
    ):
        return [either([items[index] for items in spelled]) for index in range(len(targets))]
    return [Part(value, None) for _ in targets]
