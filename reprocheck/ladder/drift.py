"""Two separate recordings: which differences of the environment lie between them, and what effect
such differences can have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from reprocheck.ladder.external_inputs import of_the_user
from reprocheck.model import Between, Check, Drift, EnvironmentDifference
from reprocheck.model.statements import ladder as statements
from reprocheck.model.statements.ladder import SidesCompared
from reprocheck.rules import drift_class, drift_classes

_ROUNDING = 1e-5
"""Relative differences of losses up to it are of rounding level."""


def between(check: Check) -> Between:
    """Return the drift between the two recordings of a check, after its ladder has been made."""
    known = check.between or Between()
    drift = classes(check.environment_differences)
    acting = [one for one in drift if one.expects != "nothing"]
    quiet = tuple(side.runs for side in known.noise if side.equal)
    loud = [side for side in known.noise if side.equal is False]
    row, rung = check.verdict.largest, check.first_rung
    apart = None if row is None else row.max_difference
    noise = None
    if loud:
        noise = statements.Noise(
            sides=tuple(check.record.compared[side.side - 1].name for side in loud),
            most=max(filter(None, map(attrgetter("largest"), loud)), default=0.0),
            between=apart,
        )
    # by the ladder, else by the losses
    rounding = False
    if rung is not None and rung.size is not None:
        rounding = rung.size == "rounding"
    elif row is not None and apart is not None and row.reference:
        rounding = apart <= _ROUNDING * abs(row.reference)
    statement = SidesCompared(
        equal=check.verdict.bitwise.equal,
        beside=tuple(row.name for row in check.verdict.unequal_series),
        acting=tuple(one.title for one in acting),
        noise=noise,
        quiet=quiet if len(quiet) == 2 else (),
        anything="anything" in map(attrgetter("expects"), acting),
        rounding=rounding,
    )
    return replace(known, statement=statement, drift=drift)


def of_libraries(differences: Sequence[EnvironmentDifference]) -> list[EnvironmentDifference]:
    """Return the differences but for those in variables that the user's own script alone reads."""
    return [one for one in differences if not of_the_user(one.key, one.reference, one.value)]


def classes(differences: Sequence[EnvironmentDifference]) -> tuple[Drift, ...]:
    """Return the differences by class, in the order of the table.

    Within a class, what both sides have comes before what one side lacks, and packages come last.
    """

    def order(difference: EnvironmentDifference) -> tuple[bool, bool, bool]:
        key = difference.key
        one_lacks_it = None in (difference.reference, difference.value)
        return key.startswith("package."), one_lacks_it, not key.endswith(".version")

    of_class: dict[str, list[EnvironmentDifference]] = defaultdict(list)
    for difference in sorted(of_libraries(differences), key=order):
        of_class[drift_class(difference.key).name].append(difference)
    return tuple(
        Drift(
            name=kind.name,
            title=kind.title,
            expects=kind.expects,
            why=kind.why,
            reference=kind.reference,
            differences=tuple(of_class[kind.name]),
        )
        for kind in drift_classes()
        if kind.name in of_class
    )
