"""Compare losses that a double cannot hold (large integers, `longdouble`) as exact fractions.

Such losses are rare, so nothing is vectorised here.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from reprocheck.model import LossSeries, Tolerance


def places(
    series: LossSeries, reference: LossSeries, count: int, start: int = 0, reference_start: int = 0
) -> list[int]:
    """Return the indexes, relative to both starts, of losses that a double cannot hold in either
    run.

    count            number of losses to look at
    start            index of the first loss in `series`
    reference_start  index of the first loss in `reference`
    """
    own = {place - start for place in series.exact}
    others = {place - reference_start for place in reference.exact}
    return sorted(place for place in own | others if 0 <= place < count)


def value(series: LossSeries, index: int) -> Fraction | None:
    """Return a loss as an exact fraction; None if it is not finite."""
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
    """Return the exact distance of two losses; None if either is not finite."""
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
    """Return whether the distance of two losses exceeds the tolerance."""
    apart = difference(series, index, reference, reference_index)
    b = value(reference, reference_index)
    if apart is None or b is None:
        return False
    return apart > Fraction(tolerance.atol) + Fraction(tolerance.rtol) * abs(b)


def shown(series: LossSeries, index: int) -> str:
    """Return a loss as text: an integer in full, any other number with 25 digits."""
    number = value(series, index)
    if number is None:
        return repr(series.values[index])
    if number.denominator == 1:
        return str(number.numerator)
    with localcontext() as context:
        context.prec = 25
        return str(Decimal(number.numerator) / Decimal(number.denominator))
