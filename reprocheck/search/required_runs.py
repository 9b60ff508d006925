"""How many runs must agree before luck is excluded: the fewer signs there are for a control, the
more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import filterfalse

from reprocheck.model import Check
from reprocheck.model.controls import is_fix
from reprocheck.model.statements.search import Sample
from reprocheck.rules import likely
from reprocheck.rules.likely import is_vague
from reprocheck.search import chance, order
from reprocheck.search.arm_runs import Judged
from reprocheck.search.lines import lines_of

SHOWN, FITTING, UNSPECIFIC = 0.1, 0.05, 0.02
"""The risk of luck that is taken: where the ladder shows a cause that the set removes, or a control
of what is new in each start acted on the line of one, or the scan is sure of that very line and it
ran; where a line of the user's fits one; elsewhere.
"""
_INEXACT = 2
"""More runs where they agree up to rounding alone."""


def wanted(
    check: Check, seen: Sample, names: Sequence[str], under: Judged | None, *, exact: bool
) -> int:
    """Return how many runs must agree under a set of controls; `under` holds the runs made so
    far.
    """
    sure: frozenset[tuple[str, str]] = frozenset()
    if seen.unlike:
        sure = _acted_or_sure(check, names, under)
    risk = min(map(partial(_risk, check, sure), names))
    if seen.intermittent:
        # Those that chose the set among many are no proof: as many again are.
        return chance.CHOICE_AND_PROOF * chance.needed(seen, min(risk, FITTING))
    runs = chance.needed(seen, risk)
    if not exact:
        runs += _INEXACT
    return runs


def _acted_or_sure(
    check: Check, names: Sequence[str], under: Judged | None
) -> frozenset[tuple[str, str]]:
    """Return pairs of a control and a line (`file:line`) at which it acted, or at which the scan is
    sure.
    """
    found = ((name, line) for name in names for line in order.sure_lines(check, name))
    if under is None:
        return frozenset(found)
    return under.acted_at.union(found)


def speaks_for(check: Check, name: str) -> bool:
    """Return whether the ladder, a line of the user's code or the scan suggests a control."""
    return _risk(check, frozenset(), name) > UNSPECIFIC


def _risk(check: Check, sure: frozenset[tuple[str, str]], name: str) -> float:
    """Return the allowed risk of luck: the fewer signs the runs and the source give, the
    smaller.
    """
    if is_fix(name):
        shown = any(
            f"{one.code} {one.at}" == name and one.confidence == "observed" for one in check.causes
        )
        return SHOWN if shown else FITTING
    known = filterfalse(is_vague, check.causes)
    removed = [one for one in known if likely.confirms(name, one.code)]
    if any(cause.confidence == "observed" for cause in removed):
        return SHOWN
    lines = lines_of(removed)
    if any((name, line) in sure for line in lines):
        return SHOWN
    if lines or order.lines_that_ran(check, name):
        return FITTING
    return UNSPECIFIC
