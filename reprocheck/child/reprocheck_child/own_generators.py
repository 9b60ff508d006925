"""Generators that a script made for itself: found where a training goes on, through the variables
that hold them, and known by these. Most have no hook: their classes are written in C.
"""

from __future__ import annotations

import sys

from .states import NumpyState, PythonState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator

    Part = tuple[str, Any]
    Read = Callable[[], bytes]


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


def _of_python(generator: Any) -> Read:
    return PythonState(lambda: generator)


def _of_numpy(generator: Any) -> Read:
    return NumpyState(lambda: generator)


def _of_torch(generator: Any) -> Read:
    return lambda: bytes(generator.get_state().numpy().tobytes())


_CLASSES = (
    ("random", "Random", _of_python),
    ("numpy.random", "Generator", _of_numpy),
    ("numpy.random", "RandomState", _of_numpy),
    ("torch", "Generator", _of_torch),
)
"""Module and name of each class of generators, and what reads one of them."""


def _readers() -> Iterator[tuple[type, str, Callable[[Any], Read]]]:
    """The classes that are there, each with its public name, and with what reads one of them. A
    module that is still being imported may not have its classes yet.
    """
    for module, name, read in _CLASSES:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None:
            yield kind, "%s.%s" % (module, name), read


def _shared() -> Iterator[Any]:
    """The generators that all code shares: they have names of their own."""
    yield getattr(sys.modules.get("random"), "_inst", None)
    yield getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
    yield getattr(sys.modules.get("torch"), "default_generator", None)
