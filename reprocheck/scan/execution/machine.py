"""Hold the state of an abstract execution.

The variables of each scope, recorded steps, current conditions, remaining limits.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypedDict

from reprocheck.scan.checks import tables
from reprocheck.scan.steps import Call, Condition, Import, Loop, Step, Store
from reprocheck.scan.values import UNKNOWN, Class, Function, Instance, Made, Place, Value, either

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


@dataclass(eq=False, slots=True)
class Frame:
    """A scope that is being executed.

    module     the module of the code
    node       the module, class, function or lambda that is executed
    around     the frame in which the code was defined: its variables are visible here
    qualified  qualified name of the function or class
    variables  values by name
    outer      names that `global` (True) and `nonlocal` (False) assign in an outer frame
    stars      packages of `from ... import *` in a module
    of_class   the class of the method that is executed
    receiver   the object on which the method is called
    returns, yields   the values that the function has returned and yielded
    generator  whether the function yields
    """

    module: Module
    node: ast.AST
    around: Frame | None = None
    qualified: str = ""
    variables: dict[str, Value] = field(default_factory=dict)
    outer: dict[str, bool] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    of_class: Class | None = None
    receiver: Value | None = None
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    generator: bool = False

    @property
    def is_class(self) -> bool:
        """Return whether the frame is the body of a class, whose names methods do not see."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def top(self) -> Frame:
        """Return the frame of the module."""
        *_, top = self.outward()
        return top

    def outward(self) -> Iterator[Frame]:
        """Yield this frame and the frames around it, up to that of the module."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.around

    def chain(self) -> Iterator[Frame]:
        """Yield the frames in which Python looks up a name, the innermost first."""
        yield self
        for frame in islice(self.outward(), 1, None):
            if not frame.is_class:
                yield frame

    def holder(self, name: str) -> Frame:
        """Return the frame in which an assignment to a name takes place."""
        if name not in self.outer:
            return self
        if self.outer[name]:
            return self.top
        _, *around = self.chain()
        functions = [frame for frame in around if frame.around is not None]
        return next((frame for frame in functions if name in frame.variables), self)

    def name_of(self, name: str) -> str:
        """Return the qualified name of a function or class that is defined in this frame."""
        return ".".join(filter(None, (self.qualified, name)))


def merged(one: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    """Return the variables after two branches; one that differs has both values."""
    joined = dict(one)
    for name, value in other.items():
        if name not in joined:
            joined[name] = value
        elif joined[name] is not value:
            joined[name] = either([joined[name], value])
    return joined


MOST_STEPS = 10_000
"""Steps of a program inside of calls and of imported modules; what stands in the module itself is
recorded to its end.
"""
MOST_CALLS = 600
"""Calls of the user's functions that are followed in a program."""
MOST_CALLS_OF_FUNCTION = 150
"""The same, in the order of a single function or class."""
SAME_FUNCTION = 5
"""How often one function is followed; after that its last result stands for the others."""
DEEPEST = 30
"""Calls of the user's functions inside of one another."""
MOST_EXPRESSIONS = 300_000
"""Expressions that are evaluated in a program, and in all the parts of a module that no program
reaches.

A count, and no time: findings must not depend on how fast a machine is.
"""


class TooMuchError(Exception):
    """The limit of evaluated expressions is reached, so that the execution stops."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call; `open` tells whether `*args` or `**kwargs` hide some of them."""

    positional: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)
    open: bool = False


NOTHING = Arguments()


class _Surroundings(TypedDict):
    """The fields of `Step` that say where and under what conditions a step happens."""

    node: ast.AST
    module: Module
    conditions: tuple[Condition, ...]
    loops: int
    through: tuple[tuple[Module, ast.AST], ...]
    contexts: tuple[Value, ...]
    by: Call | None


@dataclass(eq=False)
class Machine(ABC):
    """The state and limits of one abstract execution, which records steps and values.

    The interpreter is this class with what its subclasses add, a subject each. The subclasses call
    one another in a circle, as parts of Python do: an attribute may be a property, whose body is
    executed. So methods that this class needs of its subclasses are abstract here.

    frame       the scope that is executed
    program     whether a whole program is executed, so that steps of imported modules belong to it
    most_calls  how many calls of the user's functions are executed at most
    evaluated   how many expressions were evaluated so far, those of executions that share the limit
                included
    """

    frame: Frame
    program: bool = False
    most_calls: int = MOST_CALLS
    evaluated: int = 0
    steps: list[Step] = field(default_factory=list)
    values: dict[int, Value] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    loops: int = 0
    through: tuple[tuple[Module, ast.AST], ...] = ()
    contexts: tuple[Value, ...] = ()
    by: Call | None = None
    active: list[int] = field(default_factory=list)
    reached: set[Place] = field(default_factory=set)
    results: dict[int, Value] = field(default_factory=dict)
    closures: list[Function] = field(default_factory=list)
    decorated: list[Function] = field(default_factory=list)
    waiting: list[Made] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)
    replayed: set[int] = field(default_factory=set)
    cut: bool = False
    deep: bool = False
    silent: bool = False
    _times: Counter[int] = field(default_factory=Counter)
    _calls: int = 0

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """Return the value of an expression."""

    @abstractmethod
    def block(self, body: list[ast.stmt]) -> int:
        """Execute statements in order, until one of them leaves the block."""

    @abstractmethod
    def called(self, node: ast.AST, callee: Value, given: Arguments) -> Value:
        """Return the result of calling a value with these arguments."""

    @abstractmethod
    def inline(self, node: ast.AST, function: Function, given: Arguments = NOTHING) -> Value:
        """Execute a call of a user's function, and return its result.

        The call itself is also a step.
        """

    @abstractmethod
    def instantiated(self, node: ast.AST, of: Class, given: Arguments) -> Instance:
        """Return a new object of a user's class, after executing its constructor."""

    @abstractmethod
    def method_called(
        self, node: ast.AST, value: Value, name: str, given: Arguments = NOTHING
    ) -> Value | None:
        """Execute a call of a method of a user's object; None if there is no such method."""

    def spend(self) -> None:
        """Count one evaluated expression. Raises TooMuchError if the limit is exceeded."""
        self.evaluated += 1
        if self.evaluated > MOST_EXPRESSIONS:
            raise TooMuchError

    def record(self, step: Step) -> None:
        """Add a step unless the limit is reached; top-level steps are always added."""
        if self.silent:
            return
        if len(self.steps) >= MOST_STEPS and self.through:
            self.cut = True
            return
        self.steps.append(step)

    def call(
        self,
        node: ast.AST,
        name: str,
        given: Arguments,
        *,
        receiver: Value | None = None,
        own: bool = False,
    ) -> Call:
        """Record a call."""
        call = Call(
            **self._here(node),
            name=name,
            receiver=receiver,
            arguments=given.positional,
            keywords=given.named,
            open=given.open,
            own=own,
        )
        self.record(call)
        return call

    def store(self, node: ast.AST, name: str, value: Value, target: Value | None = None) -> None:
        """Record an assignment to an attribute or item of a library object."""
        self.record(Store(**self._here(node), name=name, value=value, target=target))

    def loop(self, node: ast.AST, value: Value) -> None:
        """Record that a loop over a value begins."""
        self.record(Loop(**self._here(node), value=value))

    def imports(self, node: ast.AST, name: str, own: Module | None = None) -> None:
        """Record the import of a module, if it is the first import of that module."""
        if name in self.imported:
            return
        self.imported.add(name)
        self.record(Import(**self._here(node), name=name, own=own))

    def executes(self, node: ast.AST, module: Module) -> None:
        """Record the import of a user's module, and the steps of its top level."""
        self.imports(node, module.name, module)
        self._replay(module)

    def _replay(self, module: Module) -> None:
        """Add the steps of an imported module's top level to the program, the first time only."""
        if not self.program or id(module) in self.replayed:
            return
        self.replayed.add(id(module))
        for step in module.body.machine.steps:
            if len(self.steps) >= MOST_STEPS:
                self.cut = True
                return
            if not isinstance(step, Import):
                # of a module outside, what sets a switch or seeds, by the last part of its name
                if isinstance(step, Call):
                    is_seeding = step.method in tables.last_parts()
                else:
                    is_seeding = isinstance(step, Store)
                if not module.outside or is_seeding:
                    self.record(step)
            elif step.name not in self.imported:
                self.imported.add(step.name)
                self.record(step)
                if step.own is not None:
                    self._replay(step.own)

    def _here(self, node: ast.AST) -> _Surroundings:
        """Return the fields that all steps recorded at this point have in common."""
        return {
            "node": node,
            "module": self.frame.module,
            "conditions": self.conditions,
            "loops": self.loops,
            "through": self.through,
            "contexts": self.contexts,
            "by": self.by,
        }

    @contextmanager
    def _holding(self, field: str, value: object) -> Iterator[None]:
        """Set a field of the machine for the duration of a `with` block."""
        before = getattr(self, field)
        setattr(self, field, value)
        try:
            yield
        finally:
            setattr(self, field, before)

    def within(self, frame: Frame) -> AbstractContextManager[None]:
        """Return a context in which code runs in another frame."""
        return self._holding("frame", frame)

    def under(self, condition: Condition) -> AbstractContextManager[None]:
        """Return a context in which code runs under one more condition."""
        return self._holding("conditions", (*self.conditions, condition))

    def inside(self, contexts: tuple[Value, ...]) -> AbstractContextManager[None]:
        """Return a context in which code runs inside of a `with` statement."""
        return self._holding("contexts", (*self.contexts, *contexts))

    def left_to(self, call: Call) -> AbstractContextManager[None]:
        """Return a context in which a library call runs the user's functions."""
        return self._holding("by", call)

    @contextmanager
    def looping(self) -> Iterator[None]:
        """Count one more loop around the code for the duration of a `with` block."""
        with self._holding("loops", self.loops + 1), self._holding("conditions", self.conditions):
            yield

    def times(self, function: Function) -> int:
        """Return how often the body of a function was executed so far."""
        return self._times[id(function.node)]

    def follow(self, function: Function, node: ast.AST, body: Callable[[], Value]) -> Value:
        """Execute the body of a function, unless it is running or a limit is reached.

        Not if it is nested too deeply, or was executed often enough.
        """
        key = id(function.node)
        self.reached.add(function.place)
        times = self.times(function)
        is_spent = self._calls >= self.most_calls
        if times >= SAME_FUNCTION or is_spent:
            self.cut = self.cut or is_spent
            return self.results.get(key, UNKNOWN)
        if key in self.active or len(self.active) >= DEEPEST:
            return self.results.get(key, UNKNOWN)
        self._times[key] += 1
        self._calls += 1
        through = (*self.through, (self.frame.module, node))
        active = [*self.active, key]
        with (
            self._holding("through", through),
            self._holding("active", active),
            self._holding("conditions", self.conditions),
        ):
            self.results[key] = body()
        return self.results[key]
