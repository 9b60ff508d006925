"""Imports: modules of the user are executed, libraries are names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reprocheck.scan.aliases import canonical
from reprocheck.scan.execution.expressions import Expressions
from reprocheck.scan.names import absolute
from reprocheck.scan.values import UNKNOWN, External, Package, Part, Value

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


class Imports(Expressions):
    """Imports modules and what stands in them."""

    def import_whole(self, node: ast.Import) -> None:
        """`import a.b`, `import a.b as c`."""
        for alias in node.names:
            own = self._load(node, alias.name)
            if alias.asname:
                self.bind(alias.asname, own or External(canonical(alias.name)))
            else:
                first = alias.name.partition(".")[0]
                self.bind(first, self._first_part(first, own))

    def _first_part(self, first: str, own: Package | None) -> Value:
        """Return what `a` stands for after `import a.b`; `own` is the user's module of the whole
        name.
        """
        if own is None:
            return External(canonical(first))
        top = self.frame.module.project.module(first, self.frame.module)
        if top is not None:
            return Package(top)
        return Part(UNKNOWN, first)

    def import_names(self, node: ast.ImportFrom) -> None:
        """Execute `from a import b`, `from . import b`, `from a import *`."""
        module = self.frame.module
        origin = absolute(node.level, node.module or "", module.name, package=module.package)
        own = self._load(node, origin)
        for alias in node.names:
            if alias.name == "*":
                self._star(origin, own)
                continue
            self.bind(alias.asname or alias.name, self._member(node, own, origin, alias.name))

    def _member(self, node: ast.ImportFrom, own: Package | None, origin: str, name: str) -> Value:
        """Return what an import takes from a module; `own` is that module where it is the
        user's.
        """
        dotted = f"{origin}.{name}"
        value: Value | None = None
        if own is not None:
            value = self.attribute(node, own, name)
        inner = self.frame.module.project.module(dotted, self.frame.module)
        if inner is not None and _may_be(value, inner):
            value = self._load(node, dotted)
        return value or External(canonical(dotted.removeprefix(".")))

    def _load(self, node: ast.stmt, name: str) -> Package | None:
        """Execute a module of the user and the packages around it; records the import of any."""
        here = self.frame.module
        module = here.project.module(name, here)
        if module is None:
            self.imports(node, name)
        for package in here.project.along(name, here):
            self.executes(node, package)
        if module is None:
            return None
        return Package(module)

    def _star(self, origin: str, own: Package | None) -> None:
        if own is None:
            self.frame.top.stars.append(canonical(origin))
            return
        brought = own.module.body.frame
        public = [name for name in brought.variables if not name.startswith("_")]
        for name in public:
            self.bind(name, brought.variables[name])
        self.frame.top.stars.extend(brought.stars)


def _may_be(value: Value | None, module: Module) -> bool:
    """Return whether what a package has under a name may be its module of that name."""
    match value:
        case Package():
            return value.module is module
        case None | Part():
            return True
    return value is UNKNOWN
