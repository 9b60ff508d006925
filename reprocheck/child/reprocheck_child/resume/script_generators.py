"""Finds the random generators that a script made for itself, by the variables that hold them.

They are searched at a boundary, where a training goes on. Most cannot be hooked, because their
classes are written in C.
"""

from __future__ import annotations

import sys
from functools import partial

from ..deep_levels import generator_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator

    from .state_holders import Slot

    Part = tuple[str, Any]
    Read = Callable[[], bytes]


def found(things: Iterable[Part], besides: Iterable[Any]) -> dict[str, Any]:
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
