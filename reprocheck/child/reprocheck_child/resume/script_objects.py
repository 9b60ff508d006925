"""Finds the objects and generators that a script holds where a training goes on."""

from __future__ import annotations

import functools
import sys
from collections import deque
from functools import partial
from types import FunctionType, GeneratorType, MethodType, ModuleType

from ..deep_levels import generator_states
from ..deep_levels.scope import cells, parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator

    from .restored_values import Slot

    Part = tuple[str, Any]
    Read = Callable[[], bytes]

_DEPTH = 5
"""Attributes, elements and variables from a variable of the script on that are walked through."""
_MOST = 3000
"""Objects that are looked at."""
_LONGEST = 100
"""Attributes or elements of one object; what has more is data."""
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type, ModuleType)


def reachable(deep: Any) -> Iterator[Part]:
    """Yield (name, object) of what the script's variables reach, the nearest objects first."""
    yield from inside(variables(deep))


def inside(things: Iterable[Part]) -> Iterator[Part]:
    """Yield (name, object) of these objects and of what they reach, the nearest objects first."""
    waiting = deque((name, thing, 0) for name, thing in things)
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        name, thing, depth = waiting.popleft()
        if isinstance(thing, _PLAIN) or id(thing) in seen:
            continue
        seen.add(id(thing))
        yield name, thing
        if depth < _DEPTH:
            waiting += [(name + part, element, depth + 1) for part, element in _inside(thing)]


def variables(deep: Any) -> Iterator[Part]:
    """Yield the variables of the script: those of its running functions, then those of its modules.

    The functions stand in the order from the innermost to the outermost.
    """
    frame = deep.frame(1)
    while frame is not None:
        if deep.is_own(frame):
            yield from list(frame.f_locals.items())
        frame = frame.f_back
    yield from of_modules(deep)


def of_modules(deep: Any) -> Iterator[Part]:
    """Yield the variables of the script's modules."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and deep.is_of_user(file):
            yield from list(vars(module).items())


def _inside(thing: Any) -> list[Part]:
    """Return the objects that an object holds, each with its name.

    They are elements, attributes, and the variables of functions and generators.
    """
    for kinds, parts_of in _HOLDERS:
        if isinstance(thing, kinds):
            return parts_of(thing)
    # a class of the script's may have anything under this name
    own = getattr(thing, "__dict__", None)
    if type(own) is not dict or len(own) > _LONGEST:
        return []
    return _named(dict(own))


def _of_container(thing: Any) -> list[Part]:
    return parts(thing) if len(thing) <= _LONGEST else []


def _of_method(thing: MethodType) -> list[Part]:
    return [("", thing.__self__)]


def _of_partial(thing: functools.partial[Any]) -> list[Part]:
    return [*parts(thing.args), *_named(thing.keywords)]


def _of_function(thing: FunctionType) -> list[Part]:
    variables_by_name = {**cells(thing), **(thing.__kwdefaults__ or {})}
    return [*_named(variables_by_name), *parts(thing.__defaults__)]


def _of_generator(thing: GeneratorType[Any, Any, Any]) -> list[Part]:
    # one that has come to its end has no frame
    return _named(dict(getattr(thing.gi_frame, "f_locals", {})))


def _named(values: dict[str, Any]) -> list[Part]:
    return [("." + name, value) for name, value in values.items()]


_HOLDERS: tuple[tuple[Any, Callable[[Any], list[Part]]], ...] = (
    ((list, tuple, dict), _of_container),
    (MethodType, _of_method),
    (functools.partial, _of_partial),
    (FunctionType, _of_function),
    (GeneratorType, _of_generator),
)
"""Classes of Python's own -> what holds of one of their objects."""


def generators(things: Iterable[Part], besides: Iterable[Any]) -> dict[str, Any]:
    """Return `variable (class)` -> generator, for the random generators that the script made.

    things   (name, object) of what the script's variables reach
    besides  generators to leave out, because they have another name in the trace
    """
    labels = dict(_kinds())
    skipped = {id(generator) for generator in (*_shared(), *besides)}
    names: dict[str, Any] = {}
    for name, thing in things:
        label = labels.get(type(thing))
        if label is not None and id(thing) not in skipped:
            skipped.add(id(thing))
            names["%s (%s)" % (name, label)] = thing
    return names


def reader(generator: Any) -> Read:
    """Return a function that reads the state of a random generator as bytes."""
    return _class_of(generator).read(generator)


def taken(generator: Any) -> Any:
    """Return the state of a random generator as its class represents it, to be put back later."""
    return _class_of(generator).take(generator)


def slots(generators: dict[str, Any]) -> Iterator[Slot]:
    """Yield (name, reader, writer) for the state of each random generator."""
    for name, generator in generators.items():
        kind = _class_of(generator)
        yield name, partial(kind.take, generator), partial(kind.put, generator)


def _of_python(generator: Any) -> Read:
    return generator_states.PythonState(lambda: generator)


def _of_numpy(generator: Any) -> Read:
    return generator_states.NumpyState(lambda: generator)


def _of_torch(generator: Any) -> Read:
    return lambda: bytes(generator.get_state().numpy().tobytes())


class _Class:
    """Describe a class of random generators.

    read  returns a function that reads a generator's state as bytes, without a copy if possible
    take  returns the state as the class represents it
    put   sets the state of a generator
    """

    def __init__(
        self,
        read: Callable[[Any], Read],
        take: Callable[[Any], Any],
        put: Callable[[Any, Any], object],
    ) -> None:
        self.read = read
        self.take = take
        self.put = put


def _put_bits(generator: Any, state: Any) -> None:
    generator.bit_generator.state = state


_CLASSES = {
    "random.Random": _Class(
        _of_python, lambda one: one.getstate(), lambda one, state: one.setstate(state)
    ),
    "numpy.random.Generator": _Class(_of_numpy, lambda one: one.bit_generator.state, _put_bits),
    "numpy.random.RandomState": _Class(
        _of_numpy, lambda one: one.get_state(), lambda one, state: one.set_state(state)
    ),
    "torch.Generator": _Class(
        _of_torch, lambda one: one.get_state(), lambda one, state: one.set_state(state.cpu())
    ),
}
"""By the public name of each class."""


def _class_of(generator: Any) -> _Class:
    return _CLASSES[next(label for kind, label in _kinds() if kind is type(generator))]


def _kinds() -> Iterator[tuple[type, str]]:
    """Yield the known classes of random generators that are imported, each with its public name.

    A module that is still being imported may not have its classes yet.
    """
    for label in _CLASSES:
        module, _, name = label.rpartition(".")
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None:
            yield kind, label


def _shared() -> Iterator[Any]:
    """Yield the random generators that all code shares, which a trace names by their library."""
    yield generator_states.python()
    yield generator_states.numpy()
    yield getattr(sys.modules.get("torch"), "default_generator", None)
