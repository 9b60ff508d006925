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
    """What a check is held against its baseline by.

    asked     whether the target itself asks for it. Else a series that the runs of one check do not
              repeat bit for bit is held against the baseline by the tolerance in any case
    sentence  why it is not what the target asks for, or what holds where it asks for nothing; ""
              where it is what it asks for
    """

    allow: Literal["bits", "tolerance"]
    asked: bool = False
    sentence: str = ""

    def exceeds(self, difference: Difference) -> bool:
        """Return whether a series is further from the baseline than is allowed. A new one never
        is.
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
    """Return what a target that asks for `asked` is held against this baseline by. Imported curves
    with rounded values are never held by their bits.

    Without a word of the target: every bit where the accepted check was equal in every bit, else
    the noise floor. As long as none is recorded, that is the tolerance.
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
    """Return the same for a check of any key. Between two keys bits are bound to differ, whatever
    the target asks for: there the noise floor holds.
    """
    if baseline.key.digest != key.digest:
        return allowed("noise-floor", baseline)
    return allowed(asked, baseline)
