"""How far a check may be from its baseline: what the target allows, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from reprocheck.suite.model import Allow, Baseline, Difference, Key

_NO_FLOOR = "no noise floor was recorded, so the tolerance holds"
_ROUNDED = "the imported curves have fewer digits, or steps, than a check, so the tolerance holds"


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowed:
    """Say how far a check may be from its baseline.

    asked     whether the target's own `allow` asks for this. If not, a series that the runs of one
              check do not repeat bitwise is compared by the tolerance in any case
    sentence  why this is not what the target asks for, or what holds if it asks for nothing; ""
              if it is what the target asks for
    """

    allow: Literal["bits", "tolerance"]
    asked: bool = False
    sentence: str = ""

    def exceeds(self, difference: Difference) -> bool:
        """Return whether a series is further from the baseline than is allowed; False for a new
        series.
        """
        if difference.missing or difference.beyond is not None:
            return True
        if self.allow == "tolerance" or difference.first_bit is None:
            return False
        return self.asked or not difference.loose

    def exceeded(self, differences: Iterable[Difference]) -> tuple[Difference, ...]:
        """Return the series that are further from the baseline than is allowed."""
        return tuple(filter(self.exceeds, differences))


def allowed(asked: Allow | None, baseline: Baseline) -> Allowed:
    """Return how far a check may be from this baseline, if the target asks for `asked`. Imported
    curves with rounded values are never compared bitwise.

    If the target asks for nothing: bitwise if the runs of the accepted check were equal bitwise,
    else the noise floor; the tolerance as long as no noise floor is recorded.
    """
    imported = not baseline.night
    if imported and not baseline.bitwise:
        return Allowed(allow="tolerance", asked=asked == "tolerance", sentence=_ROUNDED)
    if asked in ("bits", "tolerance"):
        return Allowed(allow=asked, asked=True)
    if asked == "noise-floor":
        return Allowed(allow="tolerance", sentence=_NO_FLOOR)
    if baseline.bitwise:
        return Allowed(allow="bits")
    return Allowed(
        allow="tolerance",
        sentence=f"the accepted check was not equal in every bit, and {_NO_FLOOR}",
    )


def allowed_between(asked: Allow | None, baseline: Baseline, key: Key) -> Allowed:
    """Return how far a check of environment key `key` may be from a baseline of any key. Between
    two different keys bits are bound to differ, so the noise floor holds whatever the target asks
    for.
    """
    if baseline.key.digest != key.digest:
        return allowed("noise-floor", baseline)
    return allowed(asked, baseline)
