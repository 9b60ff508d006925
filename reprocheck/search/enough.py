"""How many runs must agree before luck is excluded: the less speaks for a control, the more."""

from __future__ import annotations

from collections.abc import Iterable

from reprocheck.causes import likely
from reprocheck.causes.evidence import VAGUE
from reprocheck.model import Check
from reprocheck.search import chance, order
from reprocheck.search.chance import Sample

SHOWN, FITTING, UNSPECIFIC = 0.1, 0.05, 0.02
"""The risk of luck that is taken: where the ladder shows a cause that the set removes, where a line
of the user's fits one, elsewhere.
"""
_INEXACT = 2
"""More runs where they agree up to rounding alone."""


def wanted(check: Check, seen: Sample, names: Iterable[str], *, exact: bool) -> int:
    """How many runs under a set must agree."""
    risk = min(_risk(check, name) for name in names)
    if seen.intermittent:
        risk = min(risk, FITTING)
    runs = chance.needed(seen, risk)
    if not exact:
        runs += _INEXACT
    return runs


def nothing_speaks_for(check: Check, names: Iterable[str]) -> bool:
    """Whether one of the controls removes no cause that is shown or fits a line."""
    return any(_risk(check, name) == UNSPECIFIC for name in names)


def _risk(check: Check, name: str) -> float:
    """The less the runs and the source speak for a control, the less luck is allowed."""
    known = [one for one in check.causes if one.code not in VAGUE]
    removed = [one for one in known if likely.confirms(name, one.code)]
    if any(cause.confidence == "observed" for cause in removed):
        return SHOWN
    on_a_line = any(cause.source for cause in removed) or order.found_to_run(check, name)
    return FITTING if on_a_line else UNSPECIFIC
