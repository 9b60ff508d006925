"""Numbers as they stand in a trace, and the names of their dtypes as codes."""

from __future__ import annotations

LONGEST_EXACT = 20_000
"""Characters of a number that a double does not hold; the longest of a `longdouble` takes 8,300."""
_MOST_DTYPES = 255


def number(value: float | str) -> float:
    """Return a number of a trace as a float; NaN for anything that is no number."""
    try:
        return float(value)
    except ValueError:
        return float("nan")


def code_of(dtypes: dict[str, int], name: str) -> int:
    """Return the code of a dtype, from 0 to 255; a new dtype gets the next free code.

    All dtypes beyond 255 share the code of `unknown`.
    """
    if name not in dtypes and len(dtypes) >= _MOST_DTYPES:
        name = "unknown"
    return dtypes.setdefault(name, min(len(dtypes), _MOST_DTYPES))
