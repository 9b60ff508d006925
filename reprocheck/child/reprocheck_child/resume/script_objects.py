"""Finds the objects that the variables of a script reach where a training goes on."""

from __future__ import annotations

import functools
import sys
from collections import deque
from types import FunctionType, GeneratorType, MethodType, ModuleType

from ..deep_levels.scope import cells, parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    Part = tuple[str, Any]

_DEPTH = 5
"""Attributes, elements and variables from a variable of the script on that are walked through."""
_MOST = 3000
"""Objects that are looked at."""
_LONGEST = 100
"""Attributes or elements of one object; what has more is data."""
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type, ModuleType)


def reachable(deep: Any) -> Iterator[Part]:
    """Yield (name, object) of what the script's variables reach, the nearest objects first."""
    waiting = deque((name, thing, 0) for name, thing in variables(deep))
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
