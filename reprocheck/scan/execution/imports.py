"""Imports: modules of the user are executed, libraries are names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reprocheck.scan.aliases import canonical
from reprocheck.scan.execution.assign import bind
from reprocheck.scan.execution.attributes import attribute
from reprocheck.scan.execution.frame import Frame
from reprocheck.scan.execution.machine import Machine
from reprocheck.scan.names import absolute
from reprocheck.scan.values import UNKNOWN, External, Package, Part, Value

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


def whole(machine: Machine, frame: Frame, node: ast.Import) -> None:
    """`import a.b`, `import a.b as c`."""
    for alias in node.names:
        own = _load(machine, frame, node, alias.name)
        if alias.asname:
            bind(machine, frame, alias.asname, own or External(canonical(alias.name)))
        else:
            first = alias.name.partition(".")[0]
            top = frame.module.project.module(first, frame.module)
            value: Value = (
                Package(top) if top is not None and own is not None else External(canonical(first))
            )
            if own is not None and top is None:
                value = own if first == alias.name else Part(UNKNOWN, first)
            bind(machine, frame, first, value)


def names(machine: Machine, frame: Frame, node: ast.ImportFrom) -> None:
    """`from a import b`, `from . import b`, `from a import *`."""
    origin = absolute(node, frame.module.name, package=frame.module.package)
    own = _load(machine, frame, node, origin)
    for alias in node.names:
        if alias.name == "*":
            _star(machine, frame, origin, own)
            continue
        value: Value | None = None
        if own is not None:
            value = attribute(machine, frame, node, own, alias.name)
        inner = frame.module.project.module(f"{origin}.{alias.name}", frame.module)
        if inner is not None and (
            value is None or value is UNKNOWN or isinstance(value, Part) or _is(value, inner)
        ):
            value = _load(machine, frame, node, f"{origin}.{alias.name}")
        bind(
            machine,
            frame,
            alias.asname or alias.name,
            value or External(canonical(f"{origin}.{alias.name}" if origin else alias.name)),
        )


def _is(value: Value, module: Module) -> bool:
    return isinstance(value, Package) and value.module is module


def _load(machine: Machine, frame: Frame, node: ast.stmt, name: str) -> Package | None:
    """Executes a module of the user and the packages around it; records the import of any."""
    project = frame.module.project
    module = project.module(name, frame.module)
    if module is None:
        machine.imports(frame, node, name)
        for package in project.along(name, frame.module):
            _execute(machine, frame, node, package.name)
        return None
    for package in project.along(name, frame.module):
        machine.imports(frame, node, package.name, package)
        machine.replay(package, package.body.machine.steps)
    return Package(module)


def _execute(machine: Machine, frame: Frame, node: ast.stmt, name: str) -> None:
    module = frame.module.project.module(name, frame.module)
    if module is not None:
        machine.imports(frame, node, module.name, module)
        machine.replay(module, module.body.machine.steps)


def _star(machine: Machine, frame: Frame, origin: str, own: Package | None) -> None:
    if own is None:
        frame.top.stars.append(canonical(origin))
        return
    brought = own.module.body.frame
    for name, value in brought.variables.items():
        if not name.startswith("_"):
            bind(machine, frame, name, value)
    frame.top.stars.extend(brought.stars)
