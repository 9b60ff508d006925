"""Attributes of modules, objects, classes and what libraries made."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reprocheck.scan.aliases import canonical
from reprocheck.scan.execution.bound import bound_to
from reprocheck.scan.values import (
    Class,
    Either,
    External,
    Function,
    Instance,
    Made,
    Package,
    Part,
    Super,
    Value,
    either,
)

if TYPE_CHECKING:
    from reprocheck.scan.execution.frame import Frame
    from reprocheck.scan.execution.machine import Machine


def attribute(machine: Machine, frame: Frame, node: ast.AST, whole: Value, name: str) -> Value:
    """An attribute of a value."""
    known = _KNOWN.get(type(whole))
    if known is None:
        return Part(whole, name)
    return known(machine, frame, node, whole, name)


def _of_library(machine: Machine, frame: Frame, node: ast.AST, whole: External, name: str) -> Value:
    return External(canonical(f"{whole.dotted}.{name}"))


def _of_made(machine: Machine, frame: Frame, node: ast.AST, whole: Made, name: str) -> Value:
    return whole.facts.get(name) or Part(whole, name)


def _of_instance(
    machine: Machine, frame: Frame, node: ast.AST, whole: Instance, name: str
) -> Value:
    if name in whole.attributes:
        return whole.attributes[name]
    found = whole.of.find(name)
    if isinstance(found, Function):
        bound = bound_to(found, whole)
        if found.kind == "property":
            whole.ran.add(name)
            return machine.above.inline(machine, frame, node, bound, (), {}, open=False)
        return bound
    if found is not None:
        return found
    if name == "__class__":
        return whole.of
    return Part(whole, name)


def _of_class(machine: Machine, frame: Frame, node: ast.AST, whole: Class, name: str) -> Value:
    found = whole.find(name)
    if found is None:
        return _inherited(whole, name, whole)
    if isinstance(found, Function) and found.kind == "class":
        return bound_to(found, whole)
    return found


def _of_package(machine: Machine, frame: Frame, node: ast.AST, whole: Package, name: str) -> Value:
    variables = whole.module.body.frame.variables
    if name in variables:
        return variables[name]
    inner = whole.module.project.module(f"{whole.module.name}.{name}", whole.module)
    if inner is None:
        return Part(whole, name)
    return Package(inner)


def _of_super(machine: Machine, frame: Frame, node: ast.AST, whole: Super, name: str) -> Value:
    start = whole.of
    if isinstance(whole.instance, Instance):
        start = whole.instance.of
    found = start.find(name, after=whole.of)
    if isinstance(found, Function):
        return bound_to(found, whole.instance)
    return _inherited(whole.of, name, whole.instance)


def _inherited(of: Class, name: str, whole: Value) -> Value:
    """What a class has of the library class that it descends from; of none it is a part of the
    whole.
    """
    for base in of.external_bases():
        return External(f"{base}.{name}")
    return Part(whole, name)


def _of_any(machine: Machine, frame: Frame, node: ast.AST, whole: Either, name: str) -> Value:
    return either([attribute(machine, frame, node, option, name) for option in whole.choices])


_KNOWN: dict[type[Value], Callable[[Machine, Frame, ast.AST, Any, str], Value]] = {
    External: _of_library,
    Instance: _of_instance,
    Made: _of_made,
    Package: _of_package,
    Class: _of_class,
    Super: _of_super,
    Either: _of_any,
}
