"""The modules of a scan, and how they import one another."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reprocheck.scan.external_modules import seeding
from reprocheck.scan.index import Index, of_kind
from reprocheck.scan.memo import KEPT
from reprocheck.scan.names import Names, with_name
from reprocheck.scan.outline import Outline, imported, outlined
from reprocheck.scan.pinned_versions import Pins
from reprocheck.scan.recursion import deep
from reprocheck.scan.source import Source
from reprocheck.scan.values import Place

if TYPE_CHECKING:
    from reprocheck.scan.execution import Body
    from reprocheck.scan.order import Order


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """What happens when modules are executed; `programs.EXECUTION` is the one there is.

    A project is given it, because an execution asks the project for the modules that are imported.

    is_entry  whether a module is a program
    body      the variables and steps of a module once it was imported
    program   what happens when a module is executed
    parts     what else begins in a module: what no program reaches
    """

    is_entry: Callable[[Module], bool]
    body: Callable[[Module], Body]
    program: Callable[[Module], Order]
    parts: Callable[[Module], tuple[Order, ...]]


_OF_TEXT = ("index", "names", "_calls", KEPT)
"""What of a module holds nodes of its tree."""


@dataclass(eq=False, kw_only=True)
class Module:
    """A module of the user: its source, its names, what it imports, and what happens when it is
    executed.

    name     dotted, as other modules import it
    single   whether its path itself was given, not a folder that holds it
    roots    the folders from which other files import it
    known    its outline, where its text was looked at already
    outside  whether it lies outside of what was asked: it is read for signatures and seeding only
    pins     the versions that its project stays below
    """

    name: str
    source: Source
    project: Project
    package: bool = False
    single: bool = False
    roots: tuple[Path, ...] = ()
    known: Outline | None = None
    outside: bool = False
    pins: Pins = field(default_factory=dict)

    def is_below(self, package: str, *version: int) -> bool:
        """Return whether its project asks for versions of a package below one."""
        return any(limit <= version for limit in self.pins.get(package, ()))

    def __repr__(self) -> str:
        return f"<Module {self.name}>"

    @property
    def tree(self) -> ast.Module:
        """The parsed module: also where a deep execution asks for it first."""
        with deep():
            return self.source.tree

    @property
    def shown(self) -> str:
        """The path as it is printed."""
        return self.source.shown

    @cached_property
    def outline(self) -> Outline:
        """Return how long it is and what it imports."""
        return self.known or outlined(self.tree, self.source.lines)

    @cached_property
    def index(self) -> Index:
        """Its nodes by kind, with their parents."""
        return Index(self.tree)

    @cached_property
    def names(self) -> Names:
        """Return what its names stand for."""
        return Names(self.tree, self.name, package=self.package, expand=self._starred)

    @cached_property
    def is_entry(self) -> bool:
        """Return whether it is a program: a guard of `__main__`, training at its top level, or a
        file given by itself that nobody imports.
        """
        return self.project.execution.is_entry(self)

    @property
    def orders(self) -> tuple[Order, ...]:
        """Return what is executed, beginning here: its own execution, and its parts."""
        return (self.program, *self.parts)

    @property
    def body(self) -> Body:
        """Its variables and steps once it was imported."""
        return self.project.execution.body(self)

    @cached_property
    def program(self) -> Order:
        """Return what happens when it is executed: as a program where it is one, else when it is
        imported.
        """
        return self.project.execution.program(self)

    @cached_property
    def parts(self) -> tuple[Order, ...]:
        """Its functions and classes that no program reaches, each executed by itself: to be asked
        for once all programs of the project were.
        """
        return self.project.execution.parts(self)

    def forget(self) -> None:
        """Let go what was executed, which is much more than the text; asked for again, it is
        executed again.
        """
        self.__dict__.pop("program", None)
        self.__dict__.pop("parts", None)

    def let_go(self) -> None:
        """Let go all that is made of its text, too."""
        self.forget()
        for made in _OF_TEXT:
            self.__dict__.pop(made, None)
        self.source.forget()

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Yield the calls in the text with one of these names (`torch.nn.*` for all below), by
        line; executed or not.
        """
        found = chain.from_iterable(with_name(self._calls, name) for name in names)
        nodes = chain.from_iterable(found)
        yield from sorted(nodes, key=lambda node: (node.lineno, node.col_offset))

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Yield the nodes of these kinds, kind by kind in the order of the text: faster than
        `ast.walk`.
        """
        for kind in kinds:
            yield from self.index.of(kind)

    def name_of(self, node: ast.AST) -> str:
        """Return the dotted name of an expression; empty where it has none."""
        return self.names.of(node) or ""

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node around a node."""
        return self.index.parents.get(id(node))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, from the inside out."""
        at = self.parent(node)
        while at is not None:
            yield at
            at = self.parent(at)

    def expressions_around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Return the expressions around a node, from the inside out, as far as its statement."""
        return takewhile(lambda one: not isinstance(one, ast.stmt), self.around(node))

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the class around a node."""
        return next(of_kind(self.around(node), ast.ClassDef), None)

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the function around a node."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return next((at for at in self.around(node) if isinstance(at, kinds)), None)

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """Return the statement that a node is part of: itself, or the nearest around it."""
        return next(of_kind((node, *self.around(node)), ast.stmt), None)

    def uses_package(self, *packages: str) -> bool:
        """Return whether it imports one of these packages itself."""
        return any(name.partition(".")[0] in packages for name in self.imported_names)

    @cached_property
    def imported_names(self) -> frozenset[str]:
        """The modules that its text imports, dotted, as they are written."""
        return frozenset(imported(self.outline, self.name, package=self.package))

    @cached_property
    def imports(self) -> tuple[Module, ...]:
        """The modules of the user that it imports."""
        found = {
            id(module): module
            for name in sorted(self.imported_names)
            for module in self.project.along(name, self)
            if module is not self
        }
        return tuple(found.values())

    @cached_property
    def _calls(self) -> Mapping[str, list[ast.Call]]:
        calls: dict[str, list[ast.Call]] = {}
        for node in self.index.calls:
            name = self.names.of(node.func)
            if name is None and isinstance(node.func, ast.Attribute):
                name = f"?.{node.func.attr}"
            if name is not None:
                calls.setdefault(name, []).append(node)
        return calls

    def _starred(self, package: str, name: str) -> str | None:
        """Return what a star import of another module of the user brings under a name."""
        other = self.project.module(package, self)
        pair = (id(self), id(other))
        if other is None or other is self or pair in self.project.expanding:
            return None
        self.project.expanding.add(pair)
        try:
            return other.names.of_global(name)
        finally:
            self.project.expanding.discard(pair)


class Project:
    """All modules of a scan.

    `modules` holds them by file; `resolve` finds the module that an import of another one means.
    """

    def __init__(self, execution: Execution) -> None:
        self.modules: dict[Path, Module] = {}
        self.execution = execution
        self.resolver: Resolver = ByName(self)
        self.executed: set[Place] = set()
        """Functions that an entry module reaches."""
        self.loading: dict[int, Body] = {}
        """The bodies of modules that were imported, by the id of the module."""
        self.expanding: set[tuple[int, int]] = set()
        """The modules, by their ids, between which a star import is being looked through."""
        self._found: dict[tuple[str, str, tuple[Path, ...]], Module | None] = {}

    def __iter__(self) -> Iterator[Module]:
        return iter(self.modules.values())

    @property
    def asked(self) -> list[Module]:
        """The modules in which something is to be found."""
        return [module for module in self if not module.outside]

    @property
    def held(self) -> int:
        """Return how many lines the trees have that are kept now."""
        return sum(module.source.held for module in self)

    def let_go(self) -> None:
        """Let go the trees of all modules, and what was executed of them: asked for again, they are
        read and executed again.
        """
        self.loading.clear()
        for module in self:
            module.let_go()

    def module(self, name: str, importer: Module) -> Module | None:
        """Return the user's module that `import name` means in another one; None where it is a
        library's.
        """
        key = (name, str(importer.source.path.parent), importer.roots)
        if key not in self._found:
            self._found[key] = self.resolver.find(name, importer)
        return self._found[key]

    def along(self, name: str, importer: Module) -> Iterator[Module]:
        """Yield the user's modules that importing a dotted name executes: packages first."""
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            module = self.module(".".join(parts[:count]), importer)
            if module is not None:
                yield module

    @cached_property
    def seeding(self) -> frozenset[Place]:
        """Return where the functions outside of what was asked stand that seed."""
        return seeding(module for module in self if module.outside)

    @cached_property
    def imported(self) -> frozenset[int]:
        """Ids of the modules that another one imports."""
        return frozenset(id(other) for module in self for other in module.imports)


class Resolver(Protocol):
    """How a project finds the module of an import."""

    def find(self, name: str, importer: Module) -> Module | None:
        """Return the module, or None."""


class ByName(Resolver):
    """Modules by their own names: for projects without files."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def find(self, name: str, importer: Module) -> Module | None:
        """Return the module of that name."""
        return next((module for module in self._project if module.name == name), None)
