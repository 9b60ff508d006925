"""The modules of a scan, how they import one another, and which functions outside of it seed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reprocheck.scan.checks import tables
from reprocheck.scan.index import Index, of_kind, within
from reprocheck.scan.memo import KEPT
from reprocheck.scan.names import Names, last_word, with_name
from reprocheck.scan.pinned_versions import Pins
from reprocheck.scan.source import Outline, Source, deep, imported, outlined
from reprocheck.scan.values import Place, place

if TYPE_CHECKING:
    from reprocheck.scan.execution import Body
    from reprocheck.scan.order import Order


_DEPTH = 4
"""Functions that call one another until one of them seeds."""


def seeding(modules: Iterable[Module]) -> frozenset[Place]:
    """Return the places of functions that seed, by name.

    Themselves or through functions that they call.
    """
    functions: dict[Place, tuple[str, set[str]]] = {}
    for module in modules:
        for function in module.index.functions:
            name, around = function.name, module.parent(function)
            if name == "__init__" and isinstance(around, ast.ClassDef):
                name = around.name
            called = {last_word(call.func) for call in within(function, ast.Call)}
            functions[place(module, function)] = name, called
    names = set(tables.last_parts())
    seeders: dict[Place, str] = {}
    for _ in range(_DEPTH):
        for at, (name, called) in functions.items():
            if not names.isdisjoint(called):
                seeders[at] = name
        names.update(seeders.values())
    return frozenset(seeders)


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """The functions that execute modules; the only instance is `programs.EXECUTION`.

    A project gets it as an argument, because an execution itself asks the project for imported
    modules.

    is_entry  returns whether a module is a program
    body      returns the variables and steps of a module after its import
    program   returns the order of executing a module
    parts     returns an order for each function and class that no program reaches
    """

    is_entry: Callable[[Module], bool]
    body: Callable[[Module], Body]
    program: Callable[[Module], Order]
    parts: Callable[[Module], tuple[Order, ...]]


_OF_TEXT = ("index", "names", "_calls", KEPT)
"""What of a module holds nodes of its tree."""


@dataclass(eq=False, kw_only=True)
class Module:
    """A module of the user: its source, names and imports, and what happens when it is executed.

    name     dotted, as other modules import it
    source   the text and tree of the file
    project  all modules of the scan
    package  whether it is the `__init__.py` of a package
    single   whether the user named this file itself, not a folder that contains it
    roots    the folders from which other files import it
    known    the outline, if its text was already looked at
    outside  whether it lies outside of the scanned paths, and is read only for function signatures
             and seeding
    pins     for each package the versions below which the project stays
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
        """Return whether the project asks for a package below this version."""
        return any(limit <= version for limit in self.pins.get(package, ()))

    def __repr__(self) -> str:
        return f"<Module {self.name}>"

    @property
    def tree(self) -> ast.Module:
        """Return the parsed module; a raised recursion limit makes this safe in deep executions."""
        with deep():
            return self.source.tree

    @property
    def shown(self) -> str:
        """Return the path of the module as it is printed."""
        return self.source.shown

    @cached_property
    def outline(self) -> Outline:
        """Return the length and the imports of the module."""
        return self.known or outlined(self.tree, self.source.lines)

    @cached_property
    def index(self) -> Index:
        """Return the nodes of the module by type, with their parents."""
        return Index(self.tree)

    @cached_property
    def names(self) -> Names:
        """Return the lookup of what names in the module stand for."""
        return Names(self.tree, self.name, package=self.package, expand=self._starred)

    @cached_property
    def is_entry(self) -> bool:
        """Return whether the module is a program.

        It has a `__main__` guard, trains at its top level, or is a script that nobody imports.
        """
        return self.project.execution.is_entry(self)

    @property
    def orders(self) -> tuple[Order, ...]:
        """Return all orders that begin in this module: its own execution, and its parts."""
        return (self.program, *self.parts)

    @property
    def body(self) -> Body:
        """Return the variables and steps of the module after its import."""
        return self.project.execution.body(self)

    @cached_property
    def program(self) -> Order:
        """Return the order of executing the module, as a program or else as an import."""
        return self.project.execution.program(self)

    @cached_property
    def parts(self) -> tuple[Order, ...]:
        """Return an order for each function and class of the module that no program reaches.

        Ask for it only once the programs of all modules were executed.
        """
        return self.project.execution.parts(self)

    def forget(self) -> None:
        """Free the executed orders, which are large; a later access executes the module again."""
        self.__dict__.pop("program", None)
        self.__dict__.pop("parts", None)

    def let_go(self) -> None:
        """Free the executed orders and all that is made of the module's text."""
        self.forget()
        for made in _OF_TEXT:
            self.__dict__.pop(made, None)
        self.source.forget()

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Yield the calls in the text with one of these names, by line; executed or not.

        `torch.nn.*` stands for all below.
        """
        found = chain.from_iterable(with_name(self._calls, name) for name in names)
        nodes = chain.from_iterable(found)
        yield from sorted(nodes, key=lambda node: (node.lineno, node.col_offset))

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Yield the nodes of these kinds, kind by kind in the order of the text.

        Faster than `ast.walk`.
        """
        for kind in kinds:
            yield from self.index.of(kind)

    def name_of(self, node: ast.AST) -> str:
        """Return the dotted name of an expression; empty if it has none."""
        return self.names.of(node) or ""

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node directly around a node; None for the module itself."""
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
        """Return the innermost class around a node; None if there is none."""
        return next(of_kind(self.around(node), ast.ClassDef), None)

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the innermost function around a node; None if there is none."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return next((at for at in self.around(node) if isinstance(at, kinds)), None)

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """Return the statement that a node is part of: itself, or the nearest around it."""
        return next(of_kind((node, *self.around(node)), ast.stmt), None)

    def uses_package(self, *packages: str) -> bool:
        """Return whether the module itself imports one of these packages."""
        return any(name.partition(".")[0] in packages for name in self.imported_names)

    @cached_property
    def imported_names(self) -> frozenset[str]:
        """Return the dotted names of the modules that this module imports."""
        return frozenset(imported(self.outline, self.name, package=self.package))

    @cached_property
    def imports(self) -> tuple[Module, ...]:
        """Return the user's modules that this module imports."""
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
        """Return what a star import of another user's module defines under a name."""
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

    `modules` holds the modules by file; `resolver` finds the module that an import means.
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
        """Return the modules in the scanned paths, in which findings are reported."""
        return [module for module in self if not module.outside]

    @property
    def held(self) -> int:
        """Return how many lines the syntax trees in memory have."""
        return sum(module.source.held for module in self)

    def let_go(self) -> None:
        """Free the trees and executed orders of all modules; a later access makes them again."""
        self.loading.clear()
        for module in self:
            module.let_go()

    def module(self, name: str, importer: Module) -> Module | None:
        """Return the user's module that `import name` means in the module `importer`.

        None for a library.
        """
        key = (name, str(importer.source.path.parent), importer.roots)
        if key not in self._found:
            self._found[key] = self.resolver.find(name, importer)
        return self._found[key]

    def along(self, name: str, importer: Module) -> Iterator[Module]:
        """Yield the user's modules that importing a dotted name executes, packages first."""
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            module = self.module(".".join(parts[:count]), importer)
            if module is not None:
                yield module

    @cached_property
    def seeding(self) -> frozenset[Place]:
        """Return the places of seeding functions outside of the scanned paths."""
        return seeding(module for module in self if module.outside)

    @cached_property
    def imported(self) -> frozenset[int]:
        """Return the ids of the modules that another module imports."""
        return frozenset(id(other) for module in self for other in module.imports)


class Resolver(Protocol):
    """How a project finds the module of an import."""

    def find(self, name: str, importer: Module) -> Module | None:
        """Return the user's module that an import in `importer` means; None for a library."""


class ByName(Resolver):
    """Finds modules by their dotted names, in projects without files."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def find(self, name: str, importer: Module) -> Module | None:
        """Return the module of this name; None if there is none."""
        return next((module for module in self._project if module.name == name), None)
