"""What happens when a module is executed, in order: calls, stores, loops and imports.

Each knows how it was reached.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reprocheck.scan.values import UNKNOWN, Constant, Value

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


@dataclass(frozen=True, slots=True)
class Condition:
    """A branch under which something happens.

    test    the expression of an `if`, `while`, conditional expression or `match` case; the handler
            of a `try`
    taken   whether the branch is the one where `test` holds
    """

    test: ast.AST
    taken: bool


@dataclass(eq=False, slots=True, kw_only=True)
class Step:
    """Something that happens.

    node, module   where: the module is the user's, and not always the one that the order begins in
    conditions     branches that must be taken, outermost first, also those of callers; what cannot
                   be decided from constants
    loops          how many loops stand around it, also in callers
    through        calls of the user's own functions that led here, outermost first: (module, node
                   of the call)
    contexts       `with` blocks around it, also in callers
    by             where the user did not call it himself: the call of a library that was given the
                   function or object that holds it
    """

    node: ast.AST
    module: Module
    conditions: tuple[Condition, ...] = ()
    loops: int = 0
    through: tuple[tuple[Module, ast.AST], ...] = ()
    contexts: tuple[Value, ...] = ()
    by: Call | None = None

    @property
    def line(self) -> int:
        """Its line in the text of its module."""
        return getattr(self.node, "lineno", 1)

    @property
    def parent(self) -> ast.AST | None:
        """The node around its node."""
        return self.module.parent(self.node)

    @property
    def statement(self) -> ast.stmt | None:
        """The statement that its node is part of."""
        return self.module.statement_of(self.node)

    @property
    def function_name(self) -> str:
        """The name of the function in whose text it stands; empty at the top level."""
        return getattr(self.module.function_of(self.node), "name", "")

    @property
    def places(self) -> tuple[tuple[Module, ast.AST], ...]:
        """The calls of the user's own functions that led here, outermost first, and its own."""
        return (*self.through, (self.module, self.node))

    @property
    def happens_once(self) -> bool:
        """Return whether it stands in no loop, and no library chooses how often it happens."""
        return self.loops == 0 and self.by is None

    @property
    def depth(self) -> int:
        """Return how many of the user's calls deep."""
        return len(self.through)

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The values that it takes."""
        return ()

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The values that it makes, constants left out."""
        return ()

    @property
    def called(self) -> str:
        """The name of what a call calls; empty for other steps."""
        return ""

    @property
    def method(self) -> str:
        """The last part of that name."""
        return ""

    @property
    def library_method(self) -> str:
        """The same of a call of a library; empty for the user's own functions."""
        return ""

    @property
    def stored(self) -> str:
        """The name of what an assignment assigns to; empty for other steps."""
        return ""

    @property
    def driver(self) -> str:
        """The method of a library by which it happens (`by`); empty where the user called it
        himself.
        """
        return getattr(self.by, "method", "")

    def named(self, *names: str) -> bool:
        """Return whether it is a call with one of these names; one that ends in `.*` stands for all
        that begin so.
        """
        return False


@dataclass(eq=False, slots=True, kw_only=True)
class Call(Step):
    """A call.

    name       of what is called: `torch.nn.Dropout`, `torch.Generator().manual_seed`, `?.backward`
               where the object is not known; for a function or class of the user's (`own`) its
               qualified name. A call of a library's object itself ends in `.__call__`
    receiver   the object whose method it is
    arguments  by position; `keywords` by name. `open` where `*args` or `**kwargs` hide some
    result     what it gives back
    """

    name: str
    receiver: Value | None = None
    arguments: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    open: bool = False
    own: bool = False
    result: Value = UNKNOWN

    @property
    def called(self) -> str:
        """Its name."""
        return self.name

    @property
    def method(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    @property
    def library_method(self) -> str:
        """The last part of the name; empty where it is the user's own function."""
        if self.own:
            return ""
        return self.method

    @property
    def first(self) -> Value:
        """The first argument by position; UNKNOWN where there is none."""
        return next(iter(self.arguments), UNKNOWN)

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Receiver and arguments."""
        given = (*self.arguments, *self.keywords.values())
        if self.receiver is None:
            return given
        return (self.receiver, *given)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """Return what it gives back."""
        if isinstance(self.result, Constant):
            return ()
        return (self.result,)

    def named(self, *names: str) -> bool:
        """Return whether it has one of these names; one that ends in `.*` stands for all that begin
        so.
        """
        return any(
            self.name == name or (name.endswith(".*") and self.name.startswith(name[:-1]))
            for name in names
        )

    def argument(self, position: int | None, *keywords: str) -> Value | None:
        """Return the argument at a position or under a keyword.

        None where it is not given; UNKNOWN where `*args` or `**kwargs` may hide it. One that stands
        beside `**kwargs` is not hidden by it: Python refuses a keyword that is given twice.
        """
        for keyword in keywords:
            if keyword in self.keywords:
                return self.keywords[keyword]
        if position is not None and position < len(self.arguments):
            return self.arguments[position]
        return UNKNOWN if self.open else None


@dataclass(eq=False, slots=True, kw_only=True)
class Store(Step):
    """An assignment to something of a library: `torch.backends.cudnn.benchmark`,
    `os.environ[PYTHONHASHSEED]`.
    """

    name: str
    value: Value
    target: Value | None = None

    @property
    def stored(self) -> str:
        """Its name."""
        return self.name

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Return what is stored."""
        return (self.value,)


@dataclass(eq=False, slots=True, kw_only=True)
class Loop(Step):
    """A `for` loop or comprehension begins to go over `value`."""

    value: Value

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Return what it goes over."""
        return (self.value,)


@dataclass(eq=False, slots=True, kw_only=True)
class Import(Step):
    """The first import of a module: of a library, or of the user's (`own`), whose steps follow."""

    name: str
    own: Module | None = None
