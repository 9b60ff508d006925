"""The lines of the two events that a trace holds most of: losses and updates.

See `docs/reference/trace-format.md`.
"""

from __future__ import annotations

from . import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LOSS = '{"e":"loss","k":"%s","v":[%r],"d":"%s"}\n'
_UPDATE = '{"e":"update","o":%d,"c":%s,"i":%d}\n'
_JSON = {True: "true", False: "false", None: "null"}


def loss_line(
    values: list[float], dtype: str | list[str], kind: str, numel: int, thread: str
) -> str:
    """A `loss` event: the roots of one backward pass; `numel` and `thread` stand in it where they
    are not 1 and the main thread.
    """
    simple = len(values) == 1 and type(values[0]) is float and isinstance(dtype, str)
    if simple and numel == 1 and not thread and values[0] - values[0] == 0.0:
        return _LOSS % (kind, values[0], dtype)
    event: dict[str, Any] = {
        "e": "loss",
        "k": kind,
        "v": [_finite(float(value)) for value in values],
        "d": dtype,
    }
    exact = [exact_text(value) for value in values]
    if any(exact):
        event["x"] = exact
    if numel != 1:
        event["n"] = numel
    if thread:
        event["t"] = thread
    return jsontext.dumps(event) + "\n"


def exact_text(value: Any) -> str:
    """A number that a double does not hold (a large integer, a `longdouble`), as a fraction of two
    hexadecimal integers; else empty.
    """
    ratio = getattr(value, "as_integer_ratio", None)
    if type(value) is float or ratio is None:
        return ""
    try:
        numerator, denominator = ratio()
        held = float(value).as_integer_ratio() == (numerator, denominator)
    except (OverflowError, ValueError):  # NaN and infinity, also of what is too large for a double
        return ""
    return "" if held else "%x/%x" % (numerator, denominator)


def whole_or_float(value: Any) -> Any:
    """One number of an array library: an integer stays one, everything else is a double."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return int(value) if isinstance(value, int) or kind in ("i", "u") else float(value)


def _finite(value: float) -> float | str:
    """The number, or `nan`, `inf`, `-inf`, which JSON has no numbers for."""
    return value if value - value == 0.0 else repr(value)


def update_line(index: int, changed: bool | None, closed: int) -> str:
    """An `update` event of optimizer `index`, after which `closed` iterations are closed."""
    return _UPDATE % (index, _JSON[changed], closed)
