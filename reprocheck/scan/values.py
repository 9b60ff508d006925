"""What an expression may stand for while a module is executed in the abstract.

Values have an identity: the same object is the same thing.

`name` is what a value is called through imports and calls, None where nothing is known:

    torch.nn            External   "torch.nn"
    torch.Generator()   Made       "torch.Generator()"
    loader.dataset      Part       "torch.utils.data.DataLoader().dataset"
    batch[0]            Part       "...[]"
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, TypeGuard

from reprocheck.scan.index import of_kind

if TYPE_CHECKING:
    from reprocheck.scan.execution.machine import Frame
    from reprocheck.scan.project import Module
    from reprocheck.scan.steps import Call

MOST_OPTIONS = 6
MOST_LINKS = 10_000_000
"""Links between values that are gone along while one module is checked: about two seconds."""


@dataclass(slots=True)
class Walk:
    """Counts the links followed since a module was begun: from a value to its inputs or its users.

    It limits the work by a count rather than by time, because findings must not depend on the speed
    of a machine.
    """

    links: int = 0

    @property
    def is_over(self) -> bool:
        """Return whether the limit of links is reached, so that no further value is looked at."""
        return self.links >= MOST_LINKS


WALK = Walk()
"""That of the module that this process checks at the moment."""

Place = tuple[str, int, int]
"""Where something is defined: the file as it is printed, the line and the column. It stays the same
when a file is parsed again, and in another process.
"""


def place(module: Module, node: ast.stmt | ast.expr) -> Place:
    """Return the file, line and column of a node."""
    return module.shown, node.lineno, node.col_offset


@dataclass(eq=False, slots=True)
class Value:
    """An unknown value, and the base class of all other values."""

    @property
    def name(self) -> str | None:
        """Return the name of the value through imports and calls, as `torch.Generator()`.

        None if unknown.
        """
        return None

    @property
    def is_opaque(self) -> bool:
        """Return whether a call of the value is not executed.

        It is of a library, or outside of the scanned paths and seeds nothing.
        """
        return True

    @property
    def sources(self) -> tuple[Value, ...]:
        """Return the values of which this value is directly made."""
        return ()

    def options(self) -> tuple[Value, ...]:
        """Return the values that this value may be: several after branches, else only itself."""
        return (self,)

    def origin(self) -> Iterator[Value]:
        """Return this value and all values of which it is made, nearest first, each once."""
        return reached(self, attrgetter("sources"), 2_000)

    def made_by(self, *names: str) -> Call | None:
        """Return the call that made this value, if it has one of these names; else None.

        For a value with several options, one option is enough.
        """
        calls = (option.call for option in of_kind(self.options(), Made))
        return next((call for call in calls if call.named(*names)), None)

    def calls(self, *names: str) -> Iterator[Call]:
        """Return the calls with one of these names, or all, whose results this value is made of."""
        calls = (value.call for value in of_kind(self.origin(), Made))
        return (call for call in calls if not names or call.named(*names))


UNKNOWN = Value()


@dataclass(eq=False, slots=True)
class Constant(Value):
    """The value of a literal, or of arithmetic with literals."""

    value: object


def reached(value: Value, inner: Callable[[Value], Iterable[Value]], most: int) -> Iterator[Value]:
    """Yield a value and the values that are reached from it, nearest first, each once.

    inner  returns the values that are reached directly from a value
    most   about how many values to yield at most
    """
    seen = {id(value)}
    waiting = deque([value])
    while waiting:
        one = waiting.popleft()
        yield one
        if len(seen) >= most or WALK.is_over:
            continue
        for other in inner(one):
            WALK.links += 1
            if id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)
            if len(seen) >= most or WALK.is_over:
                break


def is_none(value: Value | None) -> bool:
    """Return whether an argument is left out, or surely None."""
    return value is None or (isinstance(value, Constant) and value.value is None)


def literal(value: Value | None) -> object:
    """Return the content of a literal; None if the value is no literal or not given."""
    if isinstance(value, Constant):
        return value.value
    return None


@dataclass(eq=False, slots=True)
class External(Value):
    """A name of a library: a module, function, class, or an attribute of these."""

    dotted: str

    @property
    def name(self) -> str:
        """Return the dotted name."""
        return self.dotted


@dataclass(eq=False, slots=True)
class Parameter(Value):
    """A parameter of a function whose callers are unknown.

    `text` tells whether its annotation is `str`.
    """

    parameter: str
    text: bool = False


@dataclass(eq=False, slots=True)
class Made(Value):
    """The result of calling a function or class of a library.

    call     the call that made it
    pending  the user's functions and objects that it was given and will call later, as the dataset
             of a loader
    facts    attributes that are known, by name: those that were set on it, the arguments of a
             parser with their defaults
    """

    call: Call
    pending: list[Value] = field(default_factory=list)
    facts: dict[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """Return the name: `torch.Generator()`."""
        return f"{self.call.name}()"

    @property
    def sources(self) -> tuple[Value, ...]:
        """Return the receiver and the arguments of the call."""
        return self.call.inputs


@dataclass(eq=False, slots=True)
class Part(Value):
    """An attribute (`key` is its name) or an item (`key` is None) of the value `whole`."""

    whole: Value
    key: str | None

    @property
    def name(self) -> str | None:
        """Return the name of the whole and the attribute or `[]`; `?` is an unnamed whole."""
        whole = self.whole.name or "?"
        if isinstance(self.whole, Instance):
            whole = self.whole.library_name
        if len(whole) > 200:
            whole = "?"
        if self.key is None:
            return f"{whole}[]"
        return f"{whole}.{self.key}"

    @property
    def sources(self) -> tuple[Value, ...]:
        """Return the value of which this is a part."""
        return (self.whole,)


@dataclass(eq=False, slots=True)
class Items(Value):
    """A list, tuple, set, dict or generator that the source spells out.

    kind   `list`, `tuple`, `set`, `dict` or `generator`
    items  the items; a comprehension has one
    keys   the keys of a dict, one for each item
    over   the iterables of a comprehension
    whole  whether these are surely all items, in order: then an index can be looked up
    """

    kind: str
    items: list[Value]
    keys: list[Value] = field(default_factory=list)
    over: tuple[Value, ...] = ()
    whole: bool = True

    @property
    def name(self) -> str:
        """Return the name: `builtins.list()` and the like."""
        return f"builtins.{self.kind}()"

    @property
    def sources(self) -> tuple[Value, ...]:
        """Return the items, the keys, and the iterables of a comprehension."""
        return (*self.items, *self.keys, *self.over)

    @property
    def is_dict(self) -> bool:
        """Return whether the container is a dict, with a key for each item."""
        return self.kind == "dict"

    @property
    def elements(self) -> list[Value]:
        """Return the elements in a loop: the keys of a dict, the items of another container."""
        if self.is_dict:
            return self.keys
        return self.items

    def get(self, key: Value) -> Value | None:
        """Return the item at a constant index or key; None if it is not known."""
        if not isinstance(key, Constant):
            return None
        if self.is_dict:
            return self._under(key.value)
        if not self.whole or not isinstance(key.value, int):
            return None
        with suppress(IndexError):
            return self.items[key.value]
        return None

    def _under(self, key: object) -> Value | None:
        """Return the item that was last assigned to a dictionary key; None if there is none."""
        pairs = list(zip(self.keys, self.items, strict=False))
        for own, item in reversed(pairs):
            if isinstance(own, Constant) and own.value == key:
                return item
        return None


@dataclass(eq=False, slots=True)
class Derived(Value):
    """The result of an operator: `kind` is `Add`, `Compare`, `format` and so on."""

    kind: str
    parts: tuple[Value, ...]

    @property
    def sources(self) -> tuple[Value, ...]:
        """Return the operands."""
        return self.parts


@dataclass(eq=False, slots=True)
class Either(Value):
    """One of several values: after branches, or the results of a function with several returns."""

    choices: tuple[Value, ...]

    @property
    def name(self) -> str | None:
        """Return the name of the first choice that has one."""
        return next((choice.name for choice in self.choices if choice.name is not None), None)

    @property
    def sources(self) -> tuple[Value, ...]:
        """Return the choices."""
        return self.choices

    def options(self) -> tuple[Value, ...]:
        """Return the choices."""
        return self.choices


@dataclass(eq=False, slots=True)
class Function(Value):
    """A function, method or lambda of the user.

    owner  the object or class to which the method is bound; None for a plain function
    first, named  arguments that `functools.partial` has already given
    kind   `property`, `static` or `class` by its decorator, else empty
    wrapper  the function that a decorator of the user's puts in place of this one
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: Module
    around: Frame
    qualified: str
    owner: Value | None = None
    of_class: Class | None = None
    defaults: tuple[Value, ...] = ()
    keyword_defaults: tuple[Value | None, ...] = ()
    first: tuple[Value, ...] = ()
    named: dict[str, Value] = field(default_factory=dict)
    kind: str = ""
    wrapper: Function | None = None

    @property
    def name(self) -> str:
        """Return the qualified name: `package.module.function`."""
        return self.qualified

    @property
    def is_opaque(self) -> bool:
        """Return whether a call of the function is not executed."""
        return self.module.outside and self.place not in self.module.project.seeding

    @property
    def place(self) -> Place:
        """Return the file, line and column of the definition."""
        return place(self.module, self.node)

    def bound_to(self, owner: Value) -> Function:
        """Return the function as a method of an object or class."""
        if self.kind == "static":
            return self
        if self.kind == "class" and isinstance(owner, Instance):
            owner = owner.of
        return replace(self, owner=owner)


@dataclass(eq=False, slots=True)
class Class(Value):
    """A class of the user."""

    node: ast.ClassDef
    module: Module
    qualified: str
    bases: tuple[Value, ...]
    attributes: dict[str, Value]

    @property
    def name(self) -> str:
        """Return the qualified name: `package.module.Class`."""
        return self.qualified

    @property
    def is_opaque(self) -> bool:
        """Return whether a call of the class is not executed."""
        if not self.module.outside:
            return False
        held = chain.from_iterable(base.attributes.values() for base in self.own_line())
        return all(method.is_opaque for method in of_kind(held, Function))

    def line_of_bases(self) -> Iterator[Value]:
        """Yield the class and its bases in the order of lookup.

        The user's as `Class`, others by name.
        """
        seen: set[int] = set()
        waiting: list[Value] = [self]
        while waiting:
            value = waiting.pop(0)
            if id(value) in seen or len(seen) > 50:
                continue
            seen.add(id(value))
            yield value
            if isinstance(value, Class):
                waiting[:0] = [option for base in value.bases for option in base.options()[:1]]

    def own_line(self) -> list[Class]:
        """Return the class and those bases that are the user's, in the order of lookup."""
        return list(of_kind(self.line_of_bases(), Class))

    def external_bases(self) -> tuple[str, ...]:
        """Return the names of the library classes from which the class inherits."""
        external = [base for base in self.line_of_bases() if not isinstance(base, Class)]
        return tuple(base.name for base in external if base.name)

    def find(self, attribute: str, *, after: Class | None = None) -> Value | None:
        """Return the attribute that the class or a user's base defines; None without one.

        With `after`, search only the bases behind that class, as `super()` does.
        """
        line = self.own_line()
        if after in line:
            line = line[line.index(after) + 1 :]
        found = (base.attributes[attribute] for base in line if attribute in base.attributes)
        return next(found, None)


@dataclass(eq=False, slots=True)
class Instance(Value):
    """An object of a user's class.

    of          the class
    attributes  attributes of the object by name
    inputs      the arguments of its constructor
    ran         names of the methods that were executed
    """

    of: Class
    attributes: dict[str, Value] = field(default_factory=dict)
    inputs: tuple[Value, ...] = ()
    ran: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Return the name: `package.module.Class()`."""
        return f"{self.of.qualified}()"

    @property
    def is_opaque(self) -> bool:
        """Return whether calls of the object's methods are not executed."""
        return self.of.is_opaque

    @property
    def library_name(self) -> str:
        """Return the name under which inherited methods are called.

        It is the name of the first base from a library, as `torch.nn.Module()`.
        """
        bases = self.of.external_bases()
        if not bases:
            return self.name
        return f"{bases[0]}()"

    @property
    def sources(self) -> tuple[Value, ...]:
        """Return the arguments of the constructor, and the attributes of the object."""
        return (*self.inputs, *self.attributes.values())

    def is_a(self, *names: str) -> bool:
        """Return whether the object's class inherits from one of these library classes."""
        return any(base in names for base in self.of.external_bases())


@dataclass(eq=False, slots=True)
class Super(Value):
    """The value of `super()` in a method of the class `of`."""

    of: Class
    instance: Value


@dataclass(eq=False, slots=True)
class Package(Value):
    """A module of the user."""

    module: Module

    @property
    def name(self) -> str:
        """Return the dotted name of the module."""
        return self.module.name


def text_of(value: Value | None) -> str | None:
    """Return the text of a constant string; None for any other value."""
    match value:
        case Constant(value=str() as text):
            return text
    return None


def are_constants(values: Sequence[Value]) -> TypeGuard[Sequence[Constant]]:
    """Return whether all values are constants."""
    return all(isinstance(value, Constant) for value in values)


def is_row(value: Value) -> TypeGuard[Items]:
    """Return whether a value is a list or tuple whose items are all known."""
    return isinstance(value, Items) and value.whole and value.kind in ("list", "tuple")


def either(values: list[Value]) -> Value:
    """Return one value that stands for several possible ones: the first `MOST_OPTIONS` that differ.

    The limit keeps this fast, because a list may have as many values as a file has lines.
    """
    choices: list[Value] = []
    for option in chain.from_iterable(value.options() for value in values):
        if len(choices) == MOST_OPTIONS:
            break
        if not any(_is_same(option, one) for one in choices):
            choices.append(option)
    if not choices:
        return UNKNOWN
    if len(choices) == 1:
        return choices[0]
    return Either(tuple(choices))


def _is_same(one: Value, other: Value) -> bool:
    """Return whether two values are the same object, library name, or constant."""
    if one is other:
        return True
    match one, other:
        case External(dotted=name), External(dotted=another):
            return name == another
        case Constant(value=value), Constant(value=another):
            return type(value) is type(another) and bool(value == another)
    return False
