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
            bind(machine, frame, first, _first_part(frame, alias.name, own))


def _first_part(frame: Frame, name: str, own: Package | None) -> Value:
    """What `a` stands for after `import a.b`; `own` is the user's module of the whole name."""
    first = name.partition(".")[0]
    if own is None:
        return External(canonical(first))
    top = frame.module.project.module(first, frame.module)
    if top is not None:
        return Package(top)
    return own if first == name else Part(UNKNOWN, first)


def names(machine: Machine, frame: Frame, node: ast.ImportFrom) -> None:
    """`from a import b`, `from . import b`, `from a import *`."""
    origin = absolute(node, frame.module.name, package=frame.module.package)
    own = _load(machine, frame, node, origin)
    for alias in node.names:
        if alias.name == "*":
            _star(machine, frame, origin, own)
            continue
        dotted = f"{origin}.{alias.name}"
        value: Value | None = None
        if own is not None:
            value = attribute(machine, frame, node, own, alias.name)
        inner = frame.module.project.module(dotted, frame.module)
        if inner is not None and _may_be(value, inner):
            value = _load(machine, frame, node, dotted)
        if value is None:
            value = External(canonical(dotted if origin else alias.name))
        bind(machine, frame, alias.asname or alias.name, value)


def _may_be(value: Value | None, module: Module) -> bool:
    """Whether what a package has under a name may be its module of that name."""
    if value is None or value is UNKNOWN or isinstance(value, Part):
        return True
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
