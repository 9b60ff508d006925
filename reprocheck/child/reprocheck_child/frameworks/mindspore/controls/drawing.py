"""Finds whether a dataset's source or operations draw random numbers.

They may be the script's or MindSpore's. The answer is read from the objects that a function
references and the names in its code; nothing is called.
"""

import sys
from itertools import chain, islice
from typing import Any, Dict, Iterable, Iterator, List

from ....deep_levels.scope import cells
from ..graph import code_names
from .augment import CHOICES, IDENTITY, MASKS, SIZED

RANDOM = frozenset(
    (*(name for names in IDENTITY.values() for name in names), *MASKS, *SIZED, *CHOICES)
)
"""Operations of MindSpore that draw."""
MODULES = ("random", "numpy.random")
GENERATORS = (("random", "Random"), ("numpy.random", "Generator"), ("numpy.random", "RandomState"))
CALLED = ("__call__", "__getitem__", "__iter__", "__next__")
"""What a pipeline calls of an object.

What its constructor draws is drawn once, by the script's own thread.
"""
DEEPEST, MOST = 6, 300


def draws(*given: Any) -> bool:
    """Return whether one of the given objects reaches a random generator."""
    sources = _Sources()
    seen: Dict[int, Any] = {}  # by id, held so that ids stay theirs
    level: List[Any] = list(given)
    for _ in range(DEEPEST + 1):
        new = {id(value): value for value in level if id(value) not in seen}
        # level by level: what draws mostly lies near to what the dataset is given
        if any(map(sources.has, new.values())):
            return True
        seen.update(new)
        if len(seen) >= MOST:
            return False
        level = list(islice(chain.from_iterable(map(_reached, new.values())), MOST))
    return False


class _Sources:
    """The things that draw: generators, the modules that hold them, operations of MindSpore."""

    def __init__(self) -> None:
        loaded = sys.modules
        self._kinds = tuple(
            vars(loaded[module])[name] for module, name in GENERATORS if module in loaded
        )
        self._modules = list(filter(None, map(loaded.get, MODULES)))

    def has(self, value: Any) -> bool:
        if isinstance(value, self._kinds) or (
            type(value).__name__ in RANDOM and type(value).__module__.startswith("mindspore.")
        ):
            return True
        return isinstance(value, type(sys)) and value in self._modules


def _reached(value: Any) -> "Iterable[Any]":
    """Return the objects that a value uses if called: its contents and the names in its code."""
    if isinstance(value, (list, tuple)):
        return value[:MOST]
    if isinstance(value, dict):
        return list(value.values())[:MOST]
    if hasattr(value, "__code__"):
        return _of_function(value)
    # a method: of a subclass of a dataset's source, say
    if hasattr(value, "__func__"):
        return (value.__func__, value.__self__)
    if type(value).__name__ == "partial":
        return (value.func, value.args, value.keywords)
    if _is_plain_object(value):
        return _of_object(value)
    return ()


def _of_object(value: Any) -> "Iterator[Any]":
    """Yield what an object holds, and what is reached when a pipeline calls it."""
    yield from vars(value).values()
    for name in CALLED:
        method = getattr(type(value), name, None)
        if hasattr(method, "__code__"):
            yield from _of_function(method, type(value))


def _is_plain_object(value: Any) -> bool:
    """Return whether a value is an object of the script's, or an operation that holds others.

    Modules, classes, arrays and datasets are not.
    """
    if isinstance(value, (type, type(sys))) or not hasattr(value, "__dict__"):
        return False
    module = type(value).__module__
    if module.startswith("mindspore."):
        return hasattr(value, "transforms")
    return module != "numpy"


def _of_function(function: Any, owner: Any = None) -> "Iterator[Any]":
    """Yield the globals, cells and methods that a function's code names.

    `numpy.random` is among them where it names both parts.
    """
    names = code_names(function.__code__)
    yield from cells(function).values()
    for name in names:
        value = function.__globals__.get(name)
        # `numpy` itself is in most scripts: it draws where its part `random` is named, too
        if getattr(value, "__name__", "") == "numpy" and "random" in names:
            value = sys.modules.get("numpy.random")
        yield value
        method = getattr(owner, name, None)
        if hasattr(method, "__code__"):
            yield method
