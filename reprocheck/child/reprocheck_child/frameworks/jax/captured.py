"""What a function of the script takes from outside without being given it: numbers and arrays of
its module and of functions around it.

A compiled program holds them as constants. A learning rate or the whole data set often comes in
this way.
"""

import dis
import types
from typing import Any, Callable, Dict, List, Set, Tuple

_DEPTH = 5
_MOST = 200

Found = Tuple[Dict[str, Any], Dict[str, Any]]
"""Numbers and arrays by the names that they have in the script."""


def captured(
    function: Any, is_array: Callable[[Any], bool], is_users: Callable[[Any], bool]
) -> Found:
    """The numbers and arrays that a function, and functions of the script that it uses, take from
    outside.
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
        """Look at what a function captures, through wrappers and partial applications."""
        if depth > _DEPTH or id(function) in self.seen or len(self.seen) > _MOST:
            return
        self.seen.add(id(function))
        inner = getattr(function, "func", None)
        if inner is not None and hasattr(function, "keywords"):  # functools.partial
            for number, value in enumerate(function.args):
                self.value("argument %d" % number, value, depth)
            for name, value in function.keywords.items():
                self.value(name, value, depth)
            self.function(inner, depth + 1)
            return
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            self.function(wrapped, depth + 1)
        function = getattr(function, "__func__", function)
        if isinstance(function, types.FunctionType) and self.is_users(function.__code__):
            for name, value in _outside(function):
                self.value(name, value, depth)

    def value(self, name: str, value: Any, depth: int) -> None:
        """Take a number or an array, look into functions and small containers."""
        if isinstance(value, (bool, int, float, complex)):
            self.numbers.setdefault(name, value)
        elif self.is_array(value):
            (self.arrays if getattr(value, "ndim", 0) else self.numbers).setdefault(name, value)
        elif isinstance(value, (list, tuple)) and len(value) <= 64:
            for number, part in enumerate(value):
                if self.is_array(part) or isinstance(part, (int, float)):
                    self.value("%s[%d]" % (name, number), part, depth)
        elif isinstance(value, dict) and len(value) <= 64:
            for key, part in value.items():
                if self.is_array(part) or isinstance(part, (int, float)):
                    self.value("%s[%r]" % (name, key), part, depth)
        elif callable(value) and not isinstance(value, type):
            self.function(value, depth + 1)


def _outside(function: types.FunctionType) -> List[Tuple[str, Any]]:
    found: List[Tuple[str, Any]] = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:
            continue
    outside = function.__globals__
    found += [(name, outside[name]) for name in _globals(function.__code__) if name in outside]
    return found


def _globals(code: types.CodeType) -> List[str]:
    """Names that code reads from its module, functions inside it included."""
    names = [
        one.argval
        for one in dis.get_instructions(code)
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _globals(constant)
    return list(dict.fromkeys(names))
