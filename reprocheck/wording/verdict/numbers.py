"""Losses, values of series and ranks in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.language import tr
from reprocheck.language.ranks import named
from reprocheck.model import SeriesPlace


def number(value: float) -> str:
    """Return a number with nine digits, which are enough for a float32."""
    return f"{value:.9g}"


def pair(a: float, b: float) -> tuple[str, str]:
    """Return both losses with as many digits as are needed to distinguish them."""
    if a != b and number(a) == number(b):
        return repr(a), repr(b)
    return number(a), number(b)


def apart(one: float, other: float) -> str:
    """Return both numbers with as few digits as distinguish them: `1.36 against 1.56`."""
    for digits in range(3, 18):
        shown = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if shown[0] != shown[1]:
            break
    return tr("{one} against {other}", one=shown[0], other=shown[1])


def where(place: SeriesPlace) -> str:
    """Return the position of a value: `step 100`, or `iteration 7` if the tracker gave no step."""
    if place.step is None:
        return tr("iteration {iteration}", iteration=place.iteration)
    return tr("step {step:.15g}", step=place.step)


def sizes(place: SeriesPlace) -> str:
    """Return the two values, run 1 first: `1.36 against 1.56`."""
    if place.value is None:
        return tr("not reported in run {run}", run=place.run)
    if place.reference is None:
        return tr("not reported in run 1")
    return apart(place.reference, place.value)


def in_brackets(ranks: Sequence[int]) -> str:
    """Return ` (rank 3)`; "" where there is only one rank, which a sentence does not name."""
    return f" ({named(ranks)})" if ranks else ""


def behind_comma(ranks: Sequence[int]) -> str:
    """Return `, rank 3`; "" where there is only one rank."""
    return f", {named(ranks)}" if ranks else ""
