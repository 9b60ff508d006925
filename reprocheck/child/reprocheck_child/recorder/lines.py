"""Formats losses and updates, the two events that a trace holds most of.

It also has the key of a line of the script. See `docs/reference/trace-format.md`.
"""

from __future__ import annotations

from . import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LOSS = '{"e":"loss","k":"%s","v":[%r],"d":"%s"}\n'
_UPDATE = '{"e":"update","o":%d,"c":%s,"i":%d}\n'
_USUAL = (1, 1, "", str)
"""Number of values, elements of the first, thread, and the type of the name of one dtype."""
_INTEGERS = ("i", "u")
_JSON = {True: "true", False: "false", None: "null"}


def loss_line(
    values: list[float], dtype: str | list[str], kind: str, numel: int, thread: str
) -> str:
    """Return a `loss` event as a line: the losses of one backward pass.

    `numel` is written if it is not 1, and `thread` if it is not the main thread.
    """
    usual = (len(values), numel, thread, type(dtype)) == _USUAL
    if usual and type(values[0]) is float and values[0] - values[0] == 0.0:
        return _LOSS % (kind, values[0], dtype)
    shown = [finite(float(value)) for value in values]
    event: dict[str, Any] = {"e": "loss", "k": kind, "v": shown, "d": dtype}
    exact = list(map(exact_text, values))
    if any(exact):
        event["x"] = exact
    if numel != 1:
        event["n"] = numel
    if thread:
        event["t"] = thread
    return json_text.dumps(event) + "\n"


def exact_text(value: Any) -> str:
    """Return a number that a double cannot hold exactly as a fraction of two hexadecimal integers.

    Such a number is a large integer or a `longdouble`. Any other number gives "".
    """
    ratio = getattr(value, "as_integer_ratio", None)
    if type(value) is float or ratio is None:
        return ""
    try:
        exact = ratio()
        if float(value).as_integer_ratio() != exact:
            return "%x/%x" % exact
    except (OverflowError, ValueError):  # NaN and infinity, also of what is too large for a double
        pass
    return ""


def one_or_all(names: list[str]) -> str | list[str]:
    """Return the dtype of several values: one name if all are the same, else all names."""
    return names[0] if len(set(names)) == 1 else names


def whole_or_float(value: Any) -> Any:
    """Return one number of an array library: an integer stays one, everything else is a double."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, int) or kind in _INTEGERS:
        return int(value)
    return float(value)


def finite(value: float) -> float | str:
    """Return the number, or `nan`, `inf`, `-inf`, which JSON has no numbers for."""
    return value if value - value == 0.0 else repr(value)


def update_line(changed: bool | None, index: int, closed: int, thread: str) -> str:
    """Return an `update` event of optimizer `index`, after which `closed` iterations are closed.

    `thread` is written where it is not the main one.
    """
    if thread:
        event = {"e": "update", "o": index, "c": changed, "i": closed, "t": thread}
        return json_text.dumps(event) + "\n"
    return _UPDATE % (index, _JSON[changed], closed)


def of_line(line: str) -> dict[str, Any]:
    """Return the dictionary key `l` of a fact with its line of the script; {} if none is known."""
    return {"l": line} if line else {}
