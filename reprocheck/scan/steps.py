"""Define the steps of an execution: calls, stores, loops and imports.

Each step knows by which calls and conditions it was reached.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from reprocheck.scan.values import UNKNOWN, Constant, Value

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


@dataclass(frozen=True, slots=True)
class Condition:
    """A branch under which a step happens.

    test    the expression of an `if`, `while`, conditional expression or `match` case; the handler
            of a `try`
    taken   whether the branch runs if `test` is true, and not if it is false
    """

    test: ast.AST
    taken: bool


@dataclass(eq=False, slots=True, kw_only=True)
class Step:
    """Something that happens in an execution.

    node, module   the syntax node and the user's module that contains it
    conditions     branches that must be taken to come here, outermost first, those of callers
                   included; branches that constants decide are left out
    loops          number of loops around the step, those of callers included
    through        calls of the user's own functions that led here, outermost first: (module, node
                   of the call)
    contexts       `with` blocks around the step, those of callers included
    by             the library call that got the function or object around the step and calls it;
                   None if the user's code calls it
    called         the full name of what a call calls; empty for other steps
    method         the last part of this name; empty for other steps
    library_method the same of a library's function alone; empty for the user's own
    stored         the name to which an assignment assigns; empty for other steps
    """

    node: ast.AST
    module: Module
    conditions: tuple[Condition, ...] = ()
    loops: int = 0
    through: tuple[tuple[Module, ast.AST], ...] = ()
    contexts: tuple[Value, ...] = ()
    by: Call | None = None
    called: str = field(default="", init=False)
    method: str = field(default="", init=False)
    library_method: str = field(default="", init=False)
    stored: str = field(default="", init=False)

    @property
    def line(self) -> int:
        """Return the line of the step in the text of its module."""
        return getattr(self.node, "lineno", 1)

    @property
    def parent(self) -> ast.AST | None:
        """Return the syntax node around the node of the step."""
        return self.module.parent(self.node)

    @property
    def statement(self) -> ast.stmt | None:
        """Return the statement that contains the node of the step."""
        return self.module.statement_of(self.node)

    @property
    def function_name(self) -> str:
        """Return the name of the function whose text contains the step; empty at the top level."""
        return getattr(self.module.function_of(self.node), "name", "")

    @property
    def places(self) -> tuple[tuple[Module, ast.AST], ...]:
        """Return (module, node) of the calls that led to the step, outermost first, and its own."""
        return (*self.through, (self.module, self.node))

    @property
    def happens_once(self) -> bool:
        """Return whether the step stands in no loop, and no library may repeat it."""
        return self.loops == 0 and self.by is None

    @property
    def depth(self) -> int:
        """Return how many of the user's own calls led to the step."""
        return len(self.through)

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Return the values that the step uses."""
        return ()

    @property
    def outputs(self) -> tuple[Value, ...]:
        """Return the values that the step makes, without constants."""
        return ()

    @property
    def driver(self) -> str:
        """Return the method of the library that calls the user's function around the step.

        Empty if none.
        """
        return getattr(self.by, "method", "")

    def named(self, *names: str) -> bool:
        """Return whether the step is a call of one of these names; `torch.nn.*` is a prefix."""
        return False


@dataclass(eq=False, slots=True, kw_only=True)
class Call(Step):
    """A call.

    name       what is called: `torch.nn.Dropout`, `torch.Generator().manual_seed`; `?.backward` if
               the object is not known; the qualified name for a user's function or class. A call of
               a library's object itself ends in `.__call__`
    receiver   the object whose method is called; None for a plain function
    arguments  the positional arguments
    keywords   the keyword arguments by name
    open       whether `*args` or `**kwargs` hide some arguments
    own        whether the called function or class is the user's
    result     the value that the call returns
    """

    name: str
    receiver: Value | None = None
    arguments: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    open: bool = False
    own: bool = False
    result: Value = UNKNOWN

    def __post_init__(self) -> None:
        self.called = self.name
        self.method = self.name.rpartition(".")[2]
        if not self.own:
            self.library_method = self.method

    @property
    def first(self) -> Value:
        """Return the first positional argument; UNKNOWN if there is none."""
        return next(iter(self.arguments), UNKNOWN)

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Return the receiver and the arguments."""
        given = (*self.arguments, *self.keywords.values())
        if self.receiver is None:
            return given
        return (self.receiver, *given)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """Return the result of the call, if it is no constant."""
        if isinstance(self.result, Constant):
            return ()
        return (self.result,)

    def named(self, *names: str) -> bool:
        """Return whether the call has one of these names; `torch.nn.*` is a prefix."""
        return self.name in names or self.name.startswith(_prefixes(names))

    def argument(self, position: int | None, *keywords: str) -> Value | None:
        """Return the argument at a position or under a keyword; None if it is not given.

        Return UNKNOWN if `*args` or `**kwargs` may contain the argument.
        """
        for keyword in keywords:
            if keyword in self.keywords:
                return self.keywords[keyword]
        if position is not None and position < len(self.arguments):
            return self.arguments[position]
        return UNKNOWN if self.open else None


@cache
def _prefixes(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the beginnings for which names such as `torch.nn.*` stand."""
    return tuple(name[:-1] for name in names if name.endswith(".*"))


@dataclass(eq=False, slots=True, kw_only=True)
class Store(Step):
    """An assignment to an attribute or item of a library.

    `torch.backends.cudnn.benchmark`, `os.environ[PYTHONHASHSEED]`
    """

    name: str
    value: Value
    target: Value | None = None

    def __post_init__(self) -> None:
        self.stored = self.name

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Return the assigned value."""
        return (self.value,)


@dataclass(eq=False, slots=True, kw_only=True)
class Loop(Step):
    """The start of a `for` loop or comprehension over `value`."""

    value: Value

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Return the iterable of the loop."""
        return (self.value,)


@dataclass(eq=False, slots=True, kw_only=True)
class Import(Step):
    """The first import of a library, or of a user's module (`own`), whose steps follow."""

    name: str
    own: Module | None = None
