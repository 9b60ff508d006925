"""Numbers, times and facts made fit to print."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime

from reprocheck import language
from reprocheck.language import count
from reprocheck.model import SourceLine
from reprocheck.redaction.masking import (
    REPLACEMENT as REPLACEMENT,
    line as line,
    printable as printable,
    tail as tail,
    valid as valid,
)

UNKNOWN = "–"
"""A number that is not there."""
_SHORT = {None: "not set", True: "yes", False: "no"}


def joined(separator: str, *parts: str) -> str:
    """Return the parts that are not empty, with the separator between them."""
    return language.joined(separator, parts)


def number(value: float | None) -> str:
    """Return a number with four significant digits; an en dash for None."""
    return _digits(value, "{:.4g}".format)


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Return two values with as many significant digits as tell them apart, four at least.

    >>> told_apart(1.4321, 1.4322)
    ('1.4321', '1.4322')
    """
    for digits in (4, 5, 6, 7, 8, 9):
        texts = _digits(one, f"{{:.{digits}g}}".format), _digits(other, f"{{:.{digits}g}}".format)
        if texts[0] != texts[1]:
            return texts
    return _digits(one, repr), _digits(other, repr)


def loss(value: float | None, dtype: str = "float32") -> str:
    """Return a loss with as many digits as tell every value of its dtype apart."""
    if dtype == "float64":
        return _digits(value, repr)
    return _digits(value, "{:.9g}".format)


def _digits(value: float | None, write: Callable[[float], str]) -> str:
    if value is None:
        return UNKNOWN
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return _INFINITY[value > 0]
    return write(value)


_INFINITY = {True: "infinity", False: "−infinity"}
"""By whether it is positive."""


def ulps(number: int | None) -> str:
    """Return a distance in units in the last place: `3`, `16,777`, `3.2e+15`.

    An en dash for None.
    """
    if number is None:
        return UNKNOWN
    if number >= 10_000_000:
        return f"{number:.1e}"
    return f"{number:,}"


def seconds(value: float) -> str:
    """Return a duration: `0.42 s`, `12.3 s`, `4 min 5 s`, `2 h 3 min`."""
    if value < 10:
        return f"{value:.2f} s"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def moment(started: str) -> str:
    """Return an ISO time as `2026-05-04 10:11:12 UTC`; other text unchanged."""
    try:
        when = datetime.fromisoformat(started)
    except ValueError:
        return line(started)
    zone = when.tzname() or ""
    return f"{when:%Y-%m-%d %H:%M:%S} {zone}".strip()


def fact(value: object) -> str:
    """Return a fact of the environment or a setting, in one line."""
    if isinstance(value, (bool, type(None))):
        return _SHORT[value]
    if isinstance(value, (list, tuple)):
        return ", ".join(map(fact, value)) or "none"
    if isinstance(value, dict):
        pairs = (f"{line(str(key))} {fact(item)}" for key, item in value.items())
        return ", ".join(pairs) or "none"
    return line(str(value))


def more(number: int, file: str, noun: str, nouns: str = "") -> str:
    """Return a sentence on left out rows: `3 more rows in report.json.`.

    Empty if none is left out.
    """
    if number <= 0:
        return ""
    return f"{count(number, noun, nouns)} in {file}."


def origin(source: SourceLine | None) -> str:
    """Return the place of a line: `train.py:12`; empty if there is none."""
    if source is None:
        return ""
    return f"{line(source.file)}:{source.line}"
