"""Finds numbers and arrays that a function of the script uses without taking them as arguments.

They are globals of its module and variables of functions around it. A compiled program holds them
as constants. A learning rate or the whole data set often comes in this way.
"""

import dis
import types
from itertools import chain
from typing import Any, Callable, Dict, List, Set, Tuple

from ...deep_levels import scope

_SHORT = 64
"""Elements of a container up to which it is looked into."""

Found = Tuple[Dict[str, Any], Dict[str, Any]]
"""Numbers and arrays by the names that they have in the script."""


def captured(
    function: Any, is_array: Callable[[Any], bool], is_users: Callable[[Any], bool]
) -> Found:
    """Return (numbers, arrays) by name that a function reads from globals or outer functions.

    Those that the script's functions called by it read are included.
    """
    walk = _Walk(is_array, is_users)
    walk.function(function, 0)
    return walk.numbers, walk.arrays


class _Walk:
    def __init__(self, is_array: Callable[[Any], bool], is_users: Callable[[Any], bool]) -> None:
        self.is_array = is_array
        self.is_users = is_users
        self.numbers: Dict[str, Any] = {}
        self.arrays: Dict[str, Any] = {}
        self.seen: Set[int] = set()

    def function(self, function: Any, depth: int) -> None:
        """Collect what a function captures, also through wrappers and `functools.partial`."""
        # functions may name each other, and those of a large script many more
        if depth > 5 or id(function) in self.seen or len(self.seen) > 200:
            return
        self.seen.add(id(function))
        if hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
            given = [
                ("argument %d" % number, argument) for number, argument in enumerate(function.args)
            ]
            self.values([*given, *function.keywords.items()], depth)
            self.function(function.func, depth + 1)
            return
        # what `jax.jit` and most decorators leave of the function of the script's
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            self.function(wrapped, depth + 1)
        function = getattr(function, "__func__", function)
        if isinstance(function, types.FunctionType) and self.is_users(function.__code__):
            outside = function.__globals__
            names = [name for name in _globals(function.__code__) if name in outside]
            self.values(
                [*scope.cells(function).items(), *((name, outside[name]) for name in names)], depth
            )

    def values(self, named: List[Tuple[str, Any]], depth: int) -> None:
        """Collect numbers and arrays from (name, value) pairs."""
        for name, value in named:
            self.value(name, value, depth)

    def value(self, name: str, value: Any, depth: int) -> None:
        """Collect a number or an array; look into functions and small containers."""
        if isinstance(value, (int, float, complex)):
            self.numbers.setdefault(name, value)
        elif self.is_array(value):
            values = self.arrays if getattr(value, "ndim", 0) else self.numbers
            values.setdefault(name, value)
        elif isinstance(value, (list, tuple, dict)):
            self.values([(name + part, element) for part, element in self._parts(value)], depth)
        elif callable(value) and not isinstance(value, type):
            self.function(value, depth + 1)

    def _parts(self, value: Any) -> List[Tuple[str, Any]]:
        """Return (path, value) of numbers and arrays in a small container; else []."""
        # a longer one is data, and would be looked at element by element
        if len(value) > _SHORT:
            return []
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [
            ("[%r]" % (key,), element)
            for key, element in items
            if (isinstance(element, (int, float)) or self.is_array(element))
        ]


def _globals(code: types.CodeType) -> List[str]:
    """Return the names of globals that code reads, including the functions inside it."""
    steps = chain.from_iterable(map(dis.get_instructions, scope.codes(code)))
    names = (step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    return list(dict.fromkeys(names))
