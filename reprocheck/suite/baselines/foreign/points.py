"""What a file of another program says of a series, before it is held against a check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Precision = Literal["rounded", "single", "double"]
"""How much of the numbers the file holds: fewer digits than were computed, or every bit of single
or of double precision.
"""
_SHORTEST = 9
"""Decimal digits that always restore a number of single precision. Values with more, which single
precision holds, were printed in full.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Points:
    """Hold one series of a file.

    name    the name of the series in the file
    by      the tracker that logged it; None if the file does not say
    steps   the step of each value, as written in the file
    """

    name: str
    steps: tuple[float, ...]
    values: tuple[float, ...]
    precision: Precision = "rounded"
    rank: int = 0
    by: str | None = None


def precision_of(texts: Sequence[str]) -> Precision:
    """Return `single` if single precision holds all numbers and their texts have more digits than
    someone who rounds would write; else `rounded`.
    """
    import numpy as np

    values = np.array([float(text) for text in texts])
    with np.errstate(over="ignore"):
        held = values.astype(np.float32).astype(np.float64)
    finite = np.isfinite(values)
    if not (held == values)[finite].all():
        return "rounded"
    longest = max((digits(text) for text in texts), default=0)
    if longest <= _SHORTEST:
        return "rounded"
    return "single"


def digits(text: str) -> int:
    """Count the significant decimal digits of a number given as text.

    >>> digits("0.00120e-5")
    3
    """
    mantissa = re.split("[eE]", text)[0]
    return len(re.sub(r"\D", "", mantissa).lstrip("0"))
