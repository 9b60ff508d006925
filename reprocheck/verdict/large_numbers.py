"""Losses that a double does not hold (large integers, `longdouble`): compared as what they are.

There are few of them, so nothing is vectorised here.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from reprocheck.model import LossSeries, Tolerance


def places(
    series: LossSeries, reference: LossSeries, count: int, start: int = 0, reference_start: int = 0
) -> list[int]:
    """Return the places, in `count` losses of both from their starts on, where either is none
    that a double holds.
    """
    own = {place - start for place in series.exact}
    others = {place - reference_start for place in reference.exact}
    return sorted(place for place in own | others if 0 <= place < count)


def value(series: LossSeries, index: int) -> Fraction | None:
    """Return a loss as it is; None where it is not finite."""
    numerator, _, denominator = series.exact.get(index, "").partition("/")
    try:
        if denominator:
            return Fraction(int(numerator, 16), int(denominator, 16))
        return Fraction(series.values[index])
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def difference(
    series: LossSeries, index: int, reference: LossSeries, reference_index: int
) -> Fraction | None:
    """Return how far two losses are apart; None where that cannot be said."""
    a, b = value(series, index), value(reference, reference_index)
    if a is None or b is None:
        return None
    return abs(a - b)


def outside(
    series: LossSeries,
    index: int,
    reference: LossSeries,
    reference_index: int,
    tolerance: Tolerance,
) -> bool:
    """Return whether two losses are further apart than is allowed."""
    apart = difference(series, index, reference, reference_index)
    b = value(reference, reference_index)
    if apart is None or b is None:
        return False
    return apart > Fraction(tolerance.atol) + Fraction(tolerance.rtol) * abs(b)


def shown(series: LossSeries, index: int) -> str:
    """Return a loss in full: an integer, else with as many digits as tell two of them apart."""
    number = value(series, index)
    if number is None:
        return repr(series.values[index])
    if number.denominator == 1:
        return str(number.numerator)
    with localcontext() as context:
        context.prec = 25
        return str(Decimal(number.numerator) / Decimal(number.denominator))
