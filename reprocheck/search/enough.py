"""How many runs must agree before luck is excluded: the less speaks for a control, the more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import filterfalse
from operator import attrgetter

from reprocheck.causes import likely
from reprocheck.causes.evidence import is_vague
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
    risk = min(_risks(check, names))
    if seen.intermittent:
        risk = min(risk, FITTING)
    runs = chance.needed(seen, risk)
    if not exact:
        runs += _INEXACT
    return runs


def nothing_speaks_for(check: Check, names: Iterable[str]) -> bool:
    """Whether one of the controls removes no cause that is shown or fits a line."""
    return UNSPECIFIC in _risks(check, names)


def _risks(check: Check, names: Iterable[str]) -> Iterator[float]:
    """The risk that is taken with each control."""
    return map(partial(_risk, check), names)


def _risk(check: Check, name: str) -> float:
    """The less the runs and the source speak for a control, the less luck is allowed."""
    known = filterfalse(is_vague, check.causes)
    removed = [one for one in known if likely.confirms(name, one.code)]
    if any(cause.confidence == "observed" for cause in removed):
        return SHOWN
    on_a_line = any(map(attrgetter("source"), removed))
    if on_a_line or order.found_to_run(check, name):
        return FITTING
    return UNSPECIFIC
