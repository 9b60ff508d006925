"""Two recordings that were made apart: which differences of the environment stand between them, and
what was to be expected of those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from reprocheck.ladder.external_inputs import of_the_user
from reprocheck.model import Between, Check, Drift, EnvironmentDifference, Noise
from reprocheck.model.statements import drift as statements
from reprocheck.model.statements.drift import SidesCompared
from reprocheck.rules import drift_class, drift_classes

_ROUNDING = 1e-5
"""Relative differences of losses up to it are of rounding level."""


def between(check: Check) -> Between:
    """Return the drift between the two recordings of a check, after its ladder has been made."""
    known = check.between or Between()
    drift = classes(check.environment_differences)
    return replace(known, statement=_compared(check, drift, known.noise), drift=drift)


def of_libraries(differences: Sequence[EnvironmentDifference]) -> list[EnvironmentDifference]:
    """Return the differences but for those in variables that the user's own script alone reads."""
    return [one for one in differences if not of_the_user(one.key, one.reference, one.value)]


def classes(differences: Sequence[EnvironmentDifference]) -> tuple[Drift, ...]:
    """Return the differences by class, in the order of the table; what both sides have comes before
    what one lacks, packages last.
    """
    found: dict[str, list[EnvironmentDifference]] = defaultdict(list)
    for one in sorted(of_libraries(differences), key=_weight):
        found[drift_class(one.key).name].append(one)
    return tuple(
        Drift(
            name=one.name,
            title=one.title,
            expects=one.expects,
            why=one.why,
            reference=one.reference,
            differences=tuple(found[one.name]),
        )
        for one in drift_classes()
        if one.name in found
    )


def _weight(one: EnvironmentDifference) -> tuple[bool, bool, bool]:
    return (
        one.key.startswith("package."),
        None in (one.reference, one.value),
        not one.key.endswith(".version"),
    )


def _compared(check: Check, drift: Sequence[Drift], noise: Sequence[Noise]) -> SidesCompared:
    """Return what of the drift and the noise says whether the difference was to be expected."""
    acting = [one for one in drift if one.expects != "nothing"]
    quiet = tuple(one.runs for one in noise if one.equal)
    return SidesCompared(
        equal=check.verdict.bitwise.equal,
        beside=tuple(row.name for row in check.verdict.unequal_series),
        acting=tuple(one.title for one in acting),
        noise=_noise(check, noise),
        quiet=quiet if len(quiet) == 2 else (),
        anything="anything" in map(attrgetter("expects"), acting),
        rounding=_rounding(check),
    )


def _noise(check: Check, noise: Sequence[Noise]) -> statements.Noise | None:
    """Return the noise within the sides; None where there is none."""
    loud = [one for one in noise if one.equal is False]
    if not loud:
        return None
    row = check.verdict.largest
    return statements.Noise(
        sides=tuple(check.record.compared[one.side - 1].name for one in loud),
        most=max(filter(None, map(attrgetter("largest"), loud)), default=0.0),
        between=None if row is None else row.max_difference,
    )


def _rounding(check: Check) -> bool:
    """Return whether the first difference is of rounding level: by the ladder, else by the
    losses.
    """
    rung = check.first_rung
    if rung is not None and rung.size is not None:
        return rung.size == "rounding"
    row = check.verdict.largest
    if row is None or row.max_difference is None or not row.reference:
        return False
    return row.max_difference <= _ROUNDING * abs(row.reference)
