"""Which way a condition goes, where constants decide it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from reprocheck.scan.values import (
    Class,
    Constant,
    Derived,
    Either,
    External,
    Function,
    Instance,
    Items,
    Made,
    Package,
    Value,
)

LARGEST = 10**18

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: lambda one, other: one is other,
    ast.IsNot: lambda one, other: one is not other,
}
_SAME_AS_NONE: dict[type[ast.cmpop], bool] = {
    ast.Is: False,
    ast.Eq: False,
    ast.IsNot: True,
    ast.NotEq: True,
}
"""What a comparison with None comes to for what cannot be None."""
_COMPUTED: dict[str, Callable[..., object]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Div": operator.truediv,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "RShift": operator.rshift,
}
_NO_CONSTANTS = (Class, Function, Instance, Items, Package)
_MAY_BE_NONE = frozenset({"And", "item", "Await"})
"""Kinds of derived values that are one of their parts.

All others are results of operators, or text that was put together.
"""
_SOMETHING = frozenset(
    f"builtins.{name}"
    for name in (
        *("abs", "bin", "bool", "bytes", "chr", "complex", "dict", "divmod", "enumerate", "filter"),
        *("float", "format", "frozenset", "hash", "hex", "id", "int", "isinstance", "len", "list"),
        *("map", "max", "min", "oct", "open", "ord", "range", "repr", "reversed", "round", "set"),
        *("slice", "sorted", "str", "sum", "tuple", "type", "zip"),
    )
)
"""Builtins that never give back None."""


def truth(value: Value) -> bool | None:
    """Whether a value is true; None where that is not known."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, External):
        return False if value.dotted == "typing.TYPE_CHECKING" else None
    if isinstance(value, Items):
        return True if value.whole and value.items and not value.over else None
    if isinstance(value, Class | Function | Package):
        return True
    options = value.options()
    if len(options) > 1:
        found = {truth(option) for option in options}
        return found.pop() if len(found) == 1 else None
    return None


def compared(one: Value, kind: type[ast.cmpop], other: Value) -> bool | None:
    """The result of a comparison; None where it is not known."""
    if isinstance(one, Constant) and isinstance(other, Constant) and kind in _COMPARED:
        try:
            return bool(_COMPARED[kind](one.value, other.value))
        except TypeError:
            return None
    if (
        kind in _SAME_AS_NONE
        and isinstance(other, Constant)
        and other.value is None
        and _is_something(one)
    ):
        own_equality = kind in (ast.Eq, ast.NotEq) and any(
            isinstance(option, Instance) for option in one.options()
        )
        return None if own_equality else _SAME_AS_NONE[kind]
    if (
        kind in (ast.In, ast.NotIn)
        and isinstance(one, Constant)
        and isinstance(other, Items)
        and other.whole
        and not other.over
    ):
        held = other.keys if other.kind == "dict" else other.items
        if all(isinstance(item, Constant) for item in held):
            return any(item.value == one.value for item in held if isinstance(item, Constant)) is (
                kind is ast.In
            )
    return None


def _is_something(value: Value) -> bool:
    """Whether a value cannot be None."""
    if isinstance(value, _NO_CONSTANTS):
        return True
    if isinstance(value, Constant):
        return value.value is not None
    if isinstance(value, Derived):
        return value.kind not in _MAY_BE_NONE
    if isinstance(value, Either):
        return all(_is_something(choice) for choice in value.choices)
    return isinstance(value, Made) and (
        value.call.method[:1].isupper() or value.call.name in _SOMETHING
    )


def computed(kind: str, one: Value, other: Value) -> Value:
    """The result of an operator: a constant where both sides are, and small."""
    if isinstance(one, Constant) and isinstance(other, Constant):
        if kind == "Pow" and other.value in (31, 32) and one.value == 2:
            return Constant(2 ** int(str(other.value)))
        if kind in _COMPUTED and _small(one.value) and _small(other.value):
            try:
                return Constant(_COMPUTED[kind](one.value, other.value))
            except (TypeError, ValueError, ArithmeticError):
                return Derived(kind, (one, other))
    return Derived(kind, (one, other))


def _small(value: object) -> bool:
    if isinstance(value, str):
        return len(value) < 200
    return isinstance(value, int | float) and abs(value) < LARGEST
