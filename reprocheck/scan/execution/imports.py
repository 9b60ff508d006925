"""Execute imports: the user's modules are executed, a library stays a name."""

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
    """Imports modules, and names from modules."""

    def import_whole(self, node: ast.Import) -> None:
        """Execute `import a.b` or `import a.b as c`."""
        for alias in node.names:
            own = self._load(node, alias.name)
            if alias.asname:
                self.bind(alias.asname, own or External(canonical(alias.name)))
            else:
                first = alias.name.partition(".")[0]
                package: Value = External(canonical(first))
                if own is not None:  # a module of the user's, in a package that may be none
                    top = self.frame.module.project.module(first, self.frame.module)
                    package = Part(UNKNOWN, first) if top is None else Package(top)
                self.bind(first, package)

    def import_names(self, node: ast.ImportFrom) -> None:
        """Execute `from a import b`, `from . import b`, `from a import *`."""
        module = self.frame.module
        origin = absolute(node.level, node.module or "", module.name, package=module.package)
        own = self._load(node, origin)
        for alias in node.names:
            if alias.name == "*":
                self._star(origin, own)
                continue
            dotted = f"{origin}.{alias.name}"
            member: Value | None = None
            if own is not None:
                member = self.attribute(node, own, alias.name)
            inner = module.project.module(dotted, module)
            if inner is not None and _may_be(member, inner):
                member = self._load(node, dotted)
            self.bind(
                alias.asname or alias.name,
                member or External(canonical(dotted.removeprefix("."))),
            )

    def _load(self, node: ast.stmt, name: str) -> Package | None:
        """Execute a user's module and the packages around it, and return it; None for a library,
        whose import is recorded.
        """
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
    """Return whether an attribute of a package may be the package's module of that name."""
    match value:
        case Package():
            return value.module is module
        case None | Part():
            return True
    return value is UNKNOWN
