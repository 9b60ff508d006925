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
            bind(machine, frame, first, _first_part(frame, first, own))


def _first_part(frame: Frame, first: str, own: Package | None) -> Value:
    """What `a` stands for after `import a.b`; `own` is the user's module of the whole name."""
    if own is None:
        return External(canonical(first))
    top = frame.module.project.module(first, frame.module)
    if top is not None:
        return Package(top)
    return Part(UNKNOWN, first)


def names(machine: Machine, frame: Frame, node: ast.ImportFrom) -> None:
    """`from a import b`, `from . import b`, `from a import *`."""
    module = frame.module
    origin = absolute(node.level, node.module or "", module.name, package=module.package)
    own = _load(machine, frame, node, origin)
    for alias in node.names:
        if alias.name == "*":
            _star(machine, frame, origin, own)
            continue
        value = _member(machine, frame, node, own, origin, alias.name)
        bind(machine, frame, alias.asname or alias.name, value)


def _member(
    machine: Machine,
    frame: Frame,
    node: ast.ImportFrom,
    own: Package | None,
    origin: str,
    name: str,
) -> Value:
    """What an import takes from a module; `own` is that module where it is the user's."""
    dotted = f"{origin}.{name}"
    value: Value | None = None
    if own is not None:
        value = attribute(machine, frame, node, own, name)
    inner = frame.module.project.module(dotted, frame.module)
    if inner is not None and _may_be(value, inner):
        value = _load(machine, frame, node, dotted)
    return value or External(canonical(dotted.removeprefix(".")))


def _may_be(value: Value | None, module: Module) -> bool:
    """Whether what a package has under a name may be its module of that name."""
    match value:
        case Package():
            return value.module is module
        case None | Part():
            return True
    return value is UNKNOWN


def _load(machine: Machine, frame: Frame, node: ast.stmt, name: str) -> Package | None:
    """Executes a module of the user and the packages around it; records the import of any."""
    project = frame.module.project
    module = project.module(name, frame.module)
    if module is None:
        machine.imports(frame, node, name)
    for package in project.along(name, frame.module):
        machine.executes(frame, node, package)
    if module is None:
        return None
    return Package(module)


def _star(machine: Machine, frame: Frame, origin: str, own: Package | None) -> None:
    if own is None:
        frame.top.stars.append(canonical(origin))
        return
    brought = own.module.body.frame
    public = [name for name in brought.variables if not name.startswith("_")]
    for name in public:
        bind(machine, frame, name, brought.variables[name])
    frame.top.stars.extend(brought.stars)
