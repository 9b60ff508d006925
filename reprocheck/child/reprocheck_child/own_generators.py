"""Generators that a script made for itself: found where a training goes on, through the variables
that hold them, and known by these. Most have no hook: their classes are written in C.
"""

from __future__ import annotations

import functools
import sys
from collections import deque
from types import FunctionType, GeneratorType, MethodType, ModuleType

from .scope import cells, parts
from .states import NumpyState, PythonState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator

    Part = tuple[str, Any]
    Read = Callable[[], bytes]

_DEPTH = 5
"""Attributes, elements and variables from a variable of the script on that are walked through."""
_MOST = 3000
"""Objects that are looked at."""
_LONGEST = 100
"""Attributes or elements of one object; what has more is data."""
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type, ModuleType)


def found(things: Iterable[Part], besides: Iterable[Any]) -> dict[str, Read]:
    """`variable (class)` -> what reads the state of a generator that the script made.

    `things`: what its variables reach; `besides`: generators that are known by another name.
    """
    readers = {kind: (label, read) for kind, label, read in _readers()}
    skipped = {id(one) for one in (*_shared(), *besides)}
    names: dict[str, Read] = {}
    for name, thing in things:
        kind = type(thing)
        if kind in readers and id(thing) not in skipped:
            skipped.add(id(thing))
            label, read = readers[kind]
            names["%s (%s)" % (name, label)] = read(thing)
    return names


def _readers() -> Iterator[tuple[type, str, Callable[[Any], Read]]]:
    """The classes of generators that are there, each with its public name, and with what reads one
    of them.
    """
    random, numpy, torch = map(_imported, ("random", "numpy.random", "torch"))
    if hasattr(random, "Random"):
        yield random.Random, "random.Random", lambda one: PythonState(lambda: one)
    # a module that is still being imported does not have them yet
    if hasattr(numpy, "RandomState") and hasattr(numpy, "Generator"):
        yield numpy.Generator, "numpy.random.Generator", lambda one: NumpyState(lambda: one)
        yield numpy.RandomState, "numpy.random.RandomState", lambda one: NumpyState(lambda: one)
    if hasattr(torch, "Generator"):
        yield torch.Generator, "torch.Generator", _of_torch


def _imported(name: str) -> Any:
    """A module that the script has imported; None where it has not."""
    return sys.modules.get(name)


def _of_torch(generator: Any) -> Read:
    return lambda: bytes(generator.get_state().numpy().tobytes())


def _shared() -> Iterator[Any]:
    """The generators that all code shares: they have names of their own."""
    yield getattr(sys.modules.get("random"), "_inst", None)
    yield getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
    yield getattr(sys.modules.get("torch"), "default_generator", None)


def _roots(deep: Any) -> Iterator[Part]:
    """The variables of the script: of its functions under way from the innermost out, then of its
    modules.
    """
    frame = deep.frame(1)
    while frame is not None:
        if deep.is_own(frame):
            yield from list(frame.f_locals.items())
        frame = frame.f_back
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and deep.is_of_user(file):
            yield from list(vars(module).items())


def reachable(deep: Any) -> Iterator[Part]:
    """What is reached from the variables of the script, the nearest first, each with its name."""
    waiting = deque((name, thing, 0) for name, thing in _roots(deep))
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        name, thing, depth = waiting.popleft()
        if isinstance(thing, _PLAIN) or id(thing) in seen:
            continue
        seen.add(id(thing))
        yield name, thing
        if depth < _DEPTH:
            waiting += [(name + part, one, depth + 1) for part, one in _inside(thing)]


def _inside(thing: Any) -> list[Part]:
    """What an object holds: elements, attributes, and variables of functions and of Python's
    generators.
    """
    if isinstance(thing, (list, tuple, dict)):
        return parts(thing) if len(thing) <= _LONGEST else []
    if isinstance(thing, MethodType):
        return [("", thing.__self__)]
    if isinstance(thing, functools.partial):
        return [*parts(thing.args), *((".%s" % key, one) for key, one in thing.keywords.items())]
    if isinstance(thing, FunctionType):
        held = {**cells(thing), **(thing.__kwdefaults__ or {})}
        return [*_named(held), *parts(thing.__defaults__)]
    if isinstance(thing, GeneratorType):
        frame = thing.gi_frame
        return [] if frame is None else _named(dict(frame.f_locals))
    # a class of the script's may have anything under this name
    own = getattr(thing, "__dict__", None)
    if type(own) is not dict or len(own) > _LONGEST:
        return []
    return _named(dict(own))


def _named(held: dict[str, Any]) -> list[Part]:
    return [("." + name, one) for name, one in held.items()]
