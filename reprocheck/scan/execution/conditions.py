"""Decide conditions, comparisons and operators whose operands are constants."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from contextlib import suppress
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
    are_constants,
)
from reprocheck.scan.vocabulary import names

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
    **dict.fromkeys((ast.Is, ast.Eq), False),
    **dict.fromkeys((ast.IsNot, ast.NotEq), True),
}
"""What a comparison with None comes to for what cannot be None."""
_IS_IN: dict[type[ast.cmpop], bool] = {ast.In: True, ast.NotIn: False}
"""Whether a comparison asks for what a container holds, or for what it does not."""
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
_SOMETHING = frozenset(f"builtins.{name}" for name in names("execution", "something"))


def truth(value: Value) -> bool | None:
    """Return whether a value is true; None if this is not known."""
    match value:
        case Constant(value=constant):
            return bool(constant)
        case External(dotted="typing.TYPE_CHECKING"):
            return False
        case Items(whole=True, items=[_, *_], over=()):
            return True
        case Class() | Function() | Package():
            return True
        case Either(choices=choices):
            known = set(map(truth, choices))
            if len(known) == 1:
                return known.pop()
    return None


def compared(one: Value, kind: type[ast.cmpop], other: Value) -> bool | None:
    """Return the result of a comparison; None if it is not known."""
    match one, other:
        case Constant(value=left), Constant(value=right) if kind in _COMPARED:
            with suppress(TypeError):
                return bool(_COMPARED[kind](left, right))
        case _, Constant(value=None) if kind in _SAME_AS_NONE and _differs_from_none(one, kind):
            return _SAME_AS_NONE[kind]
        case Constant(value=wanted), Items(whole=True, over=()) if kind in _IS_IN:
            if are_constants(other.elements):
                is_in = wanted in [item.value for item in other.elements]
                return is_in is _IS_IN[kind]
    return None


def _differs_from_none(value: Value, kind: type[ast.cmpop]) -> bool:
    """Return whether a value is surely different from None.

    For `==`, an object of a user's class may define equality itself, and so is not sure.
    """
    by_identity = kind in (ast.Is, ast.IsNot)
    has_own = any(isinstance(option, Instance) for option in value.options())
    if has_own and not by_identity:
        return False
    return _is_something(value)


def _is_something(value: Value) -> bool:
    """Return whether a value cannot be None."""
    match value:
        case Class() | Function() | Instance() | Items() | Package():
            return True
        case Constant(value=constant):
            return constant is not None
        case Derived(kind=kind):
            # Kinds of derived values that are one of their parts. All others are results of
            # operators, or text that was put together.
            return kind not in {"And", "item", "Await"}
        case Either(choices=choices):
            return all(map(_is_something, choices))
        case Made(call=call):
            return call.method[:1].isupper() or call.name in _SOMETHING
    return False


def computed(kind: str, one: Value, other: Value) -> Value:
    """Return the result of an operator: a constant if both operands are small constants."""
    match kind, one, other:
        case "Pow", Constant(value=2), Constant(value=31 | 32 as exponent):
            return Constant(2 ** int(exponent))
        case _, Constant(value=left), Constant(value=right) if kind in _COMPUTED:
            if _small(left) and _small(right):
                with suppress(TypeError, ValueError, ArithmeticError):
                    return Constant(_COMPUTED[kind](left, right))
    return Derived(kind, (one, other))


def _small(value: object) -> bool:
    if isinstance(value, str):
        return len(value) < 200
    return isinstance(value, int | float) and abs(value) < LARGEST
