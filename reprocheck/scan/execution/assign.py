"""Assignments: to names, attributes, items, and several at once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reprocheck.scan.aliases import canonical
from reprocheck.scan.values import (
    Class,
    Constant,
    External,
    Instance,
    Items,
    Made,
    Package,
    Part,
    Value,
    either,
    is_row,
)

if TYPE_CHECKING:
    from reprocheck.scan.execution.frame import Frame
    from reprocheck.scan.execution.machine import Machine


def assign(machine: Machine, frame: Frame, target: ast.expr, value: Value) -> None:
    """Gives a value to a target."""
    _TARGETS.get(type(target), _nothing)(machine, frame, target, value)


def _nothing(machine: Machine, frame: Frame, target: ast.expr, value: Value) -> None:
    """What is no target is not assigned to."""


def _name(machine: Machine, frame: Frame, target: ast.Name, value: Value) -> None:
    bind(machine, frame, target.id, value)
    machine.values[id(target)] = value


def _several(machine: Machine, frame: Frame, target: ast.Tuple | ast.List, value: Value) -> None:
    for part, item in zip(target.elts, _unpacked(target.elts, value), strict=True):
        assign(machine, frame, part, item)


def _starred(machine: Machine, frame: Frame, target: ast.Starred, value: Value) -> None:
    assign(machine, frame, target.value, value)


def _attribute(machine: Machine, frame: Frame, target: ast.Attribute, value: Value) -> None:
    for option in machine.above.evaluate(machine, frame, target.value).options():
        set_attribute(machine, frame, target, option, target.attr, value)


def _item(machine: Machine, frame: Frame, target: ast.Subscript, value: Value) -> None:
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
    match whole:
        case Instance():
            _set_own(machine, frame, node, whole, attribute, value)
        case Class(attributes=attributes):
            attributes[attribute] = value
        case Package(module=module):
            module.body.frame.variables[attribute] = value
        case _:
            if isinstance(whole, Made):
                whole.facts[attribute] = value
            machine.store(frame, node, _dotted(whole, attribute), value, whole)


def _set_own(
    machine: Machine, frame: Frame, node: ast.AST, whole: Instance, attribute: str, value: Value
) -> None:
    """Gives a value to an attribute of an object of the user's.

    Under a condition, the attribute keeps what it had as well.
    """
    kept = value
    if attribute in whole.attributes and machine.conditions:
        kept = either([value, whole.attributes[attribute]])
    whole.attributes[attribute] = kept
    if whole.of.external_bases():
        machine.store(frame, node, f"{whole.library_name}.{attribute}", value, whole)


def set_item(
    machine: Machine, frame: Frame, node: ast.AST, whole: Value, key: Value, value: Value
) -> None:
    """Gives a value to an item."""
    if isinstance(whole, Items):
        whole.items.append(value)
        if whole.is_dict:
            whole.keys.append(key)
        else:
            whole.whole = False
        return
    shown: object = ""
    if isinstance(key, Constant):
        shown = key.value
    machine.store(frame, node, f"{whole.name or '?'}[{shown}]", value, whole)


def _dotted(whole: Value, attribute: str) -> str:
    """The name of an attribute of something of a library."""
    if isinstance(whole, External):
        return canonical(f"{whole.dotted}.{attribute}")
    return Part(whole, attribute).name or attribute


def _unpacked(targets: list[ast.expr], value: Value) -> list[Value]:
    """What each target of an unpacking gets."""
    rows = [_row(option, len(targets)) for option in value.options()]
    is_starred = any(isinstance(target, ast.Starred) for target in targets)
    if is_starred or None in rows:
        return [Part(value, None) for _ in targets]
    return [either(list(column)) for column in zip(*filter(None, rows), strict=True)]


def _row(value: Value, length: int) -> list[Value] | None:
    """The items of a list or tuple that is spelled out, of this length."""
    if not is_row(value) or len(value.items) != length:
        return None
    return value.items


_TARGETS: dict[type[ast.expr], Callable[[Machine, Frame, Any, Value], None]] = {
    ast.Name: _name,
    ast.Tuple: _several,
    ast.List: _several,
    ast.Starred: _starred,
    ast.Attribute: _attribute,
    ast.Subscript: _item,
}
