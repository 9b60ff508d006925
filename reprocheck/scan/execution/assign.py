"""Assignments: to names, attributes, items, and several at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

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
    match target:
        case ast.Name(id=name):
            bind(machine, frame, name, value)
            machine.values[id(target)] = value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part, item in zip(parts, _unpacked(parts, value), strict=True):
                assign(machine, frame, part, item)
        case ast.Starred(value=inner):
            assign(machine, frame, inner, value)
        case ast.Attribute(value=holder, attr=name):
            for option in machine.above.evaluate(machine, frame, holder).options():
                set_attribute(machine, frame, target, option, name, value)
        case ast.Subscript(value=holder, slice=index):
            whole = machine.above.evaluate(machine, frame, holder)
            key = machine.above.evaluate(machine, frame, index)
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
    match whole:
        case Instance(attributes=attributes):
            before = attributes.get(attribute)
            attributes[attribute] = value
            if before is not None and machine.conditions:
                attributes[attribute] = either([value, before])
            if whole.of.external_bases():
                machine.store(frame, node, f"{whole.library_name}.{attribute}", value, whole)
        case Class(attributes=attributes):
            attributes[attribute] = value
        case Package(module=module):
            module.body.frame.variables[attribute] = value
        case External():
            machine.store(frame, node, _dotted(whole, attribute), value, whole)
        case _:
            if isinstance(whole, Made):
                whole.facts[attribute] = value
            name = Part(whole, attribute).name or attribute
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
    rows = [option.items for option in options if _is_row(option, len(targets))]
    starred = any(isinstance(target, ast.Starred) for target in targets)
    if not rows or len(rows) < len(options) or starred:
        return [Part(value, None) for _ in targets]
    return [either(list(column)) for column in zip(*rows, strict=True)]


def _is_row(value: Value, length: int) -> TypeGuard[Items]:
    """Whether a value is a list or tuple that is spelled out, of this length."""
    match value:
        case Items(kind="list" | "tuple", whole=True, items=items):
            return len(items) == length
    return False
