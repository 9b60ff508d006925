"""Attributes of modules, objects, classes and what libraries made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

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
    if isinstance(whole, External):
        return External(canonical(f"{whole.dotted}.{name}"))
    if isinstance(whole, Instance):
        return _of_instance(machine, frame, node, whole, name)
    if isinstance(whole, Made):
        return whole.facts.get(name) or Part(whole, name)
    if isinstance(whole, Package):
        return _of_package(machine, frame, whole, name)
    if isinstance(whole, Class):
        found = whole.find(name)
        if found is None:
            bases = whole.external_bases()
            return External(f"{bases[0]}.{name}") if bases else Part(whole, name)
        return (
            bound_to(found, whole)
            if isinstance(found, Function) and found.kind == "class"
            else found
        )
    if isinstance(whole, Super):
        return _of_super(whole, name)
    if isinstance(whole, Either):
        return either([attribute(machine, frame, node, option, name) for option in whole.choices])
    return Part(whole, name)


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
    return whole.of if name == "__class__" else Part(whole, name)


def _of_package(machine: Machine, frame: Frame, whole: Package, name: str) -> Value:
    variables = whole.module.body.frame.variables
    if name in variables:
        return variables[name]
    inner = whole.module.project.module(f"{whole.module.name}.{name}", whole.module)
    return Package(inner) if inner is not None else Part(whole, name)


def _of_super(whole: Super, name: str) -> Value:
    start = whole.instance.of if isinstance(whole.instance, Instance) else whole.of
    found = start.find(name, after=whole.of)
    if isinstance(found, Function):
        return bound_to(found, whole.instance)
    bases = whole.of.external_bases()
    return External(f"{bases[0]}.{name}") if bases else Part(whole.instance, name)
