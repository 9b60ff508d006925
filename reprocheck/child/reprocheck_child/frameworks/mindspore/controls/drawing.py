"""Whether what a dataset is given draws random numbers: a source, or operations, of the script's or
of MindSpore.

It is read from what a function holds and names, and nothing is called.
"""

import sys
from typing import Any, Iterator, Set

from .augment import CHOICES, IDENTITY, MASKS, SIZED

RANDOM = frozenset(
    (*(name for names in IDENTITY.values() for name in names), *MASKS, *SIZED, *CHOICES)
)
"""Operations of MindSpore that draw."""
GENERATORS = (("random", "Random"), ("numpy.random", "Generator"), ("numpy.random", "RandomState"))
CALLED = ("__call__", "__getitem__", "__iter__", "__next__")
"""What a pipeline calls of an object.

What its constructor draws is drawn once, by the script's own thread.
"""
DEEPEST, MOST = 6, 300


def draws(*given: Any) -> bool:
    """Whether one of these reaches a generator."""
    kinds = tuple(
        vars(sys.modules[module])[name] for module, name in GENERATORS if module in sys.modules
    )
    modules = [sys.modules[name] for name in ("random", "numpy.random") if name in sys.modules]
    waiting = [(one, 0) for one in given]
    seen: Set[int] = set()
    while waiting and len(seen) < MOST:
        value, depth = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if (
            isinstance(value, kinds)
            or any(value is module for module in modules)
            or _is_random_operation(value)
        ):
            return True
        if depth < DEEPEST:
            waiting += [(one, depth + 1) for one in _reached(value)]
    return False


def _is_random_operation(value: Any) -> bool:
    return type(value).__name__ in RANDOM and type(value).__module__.startswith("mindspore.")


def _reached(value: Any) -> "Iterator[Any]":
    """What a value leads to when it is called: what it holds, and what its code names."""
    if isinstance(value, (list, tuple)):
        yield from value[:MOST]
    elif isinstance(value, dict):
        yield from list(value.values())[:MOST]
    elif hasattr(value, "__code__"):
        yield from _of_function(value)
    elif hasattr(value, "__func__"):
        yield from (value.__func__, value.__self__)
    elif type(value).__name__ == "partial":
        yield from (value.func, value.args, value.keywords)
    elif _is_plain_object(value):
        yield from vars(value).values()
        for name in CALLED:
            method = getattr(type(value), name, None)
            if hasattr(method, "__code__"):
                yield from _of_function(method, type(value))


def _is_plain_object(value: Any) -> bool:
    """An object of the script's, or operations of MindSpore that hold others; no module, class,
    array or dataset.
    """
    module = type(value).__module__
    held = not module.startswith("mindspore.") or hasattr(value, "transforms")
    return (
        held
        and hasattr(value, "__dict__")
        and not isinstance(value, (type, type(sys)))
        and module != "numpy"
    )


def _of_function(function: Any, owner: Any = None) -> "Iterator[Any]":
    """The globals, cells and methods that a function's code names; `numpy.random` where it names
    both parts.
    """
    names = list(_names(function.__code__))
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue
    for name in names:
        value = function.__globals__.get(name)
        if getattr(value, "__name__", "") == "numpy" and "random" in names:
            yield sys.modules.get("numpy.random")
        elif value is not None:
            yield value
        method = getattr(owner, name, None)
        if hasattr(method, "__code__"):
            yield method


def _names(code: Any) -> "Iterator[str]":
    yield from code.co_names
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            yield from _names(constant)
