"""The rungs without a difference: the runs agree there, or nothing was recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter

from reprocheck.ladder.compare import Algorithms
from reprocheck.ladder.external_inputs import of_the_user
from reprocheck.ladder.rank import Rank
from reprocheck.ladder.trace_extract import Kept
from reprocheck.model import (
    Between,
    Check,
    Drift,
    EnvironmentDifference,
    Rung,
    RungName,
    RungStatus,
)
from reprocheck.model.evidence import generators_of
from reprocheck.model.statements import ladder as statements
from reprocheck.model.statements.ladder import NotCompared, SidesCompared, WithoutEffect
from reprocheck.rules import drift_class, drift_classes

BY_RECORD: Mapping[bool, RungStatus] = {True: "equal", False: "not_recorded"}
"""The status of a rung without a difference, by whether anything of it was compared."""


def agreeing(name: RungName, ranks: Sequence[Rank]) -> Rung:
    """Return a rung on which no rank has a difference."""
    kept = [rank.kept for rank in ranks]
    if name == "RNG state":
        # The rung of the generators begins with the first iteration; what the weights were drawn
        # from belongs to the weights.
        weights = [rank.findings.get("initial weights") for rank in ranks]
        names = (generators_of(one.evidence).names for one in weights if one is not None)
        return _states(kept, next(filter(None, names), ()))
    if name == "initial weights":
        compared = _compared("initial weights", kept)
        unseen = dict.fromkeys(chain.from_iterable(one.unseen_weights for one in kept))
        if not unseen:
            return compared
        why = _why_not("initial weights", kept) or NotCompared(
            why="unseen weights", names=tuple(unseen), others_agree=compared.status == "equal"
        )
        return Rung(rung="initial weights", status="not_recorded", statement=why)
    return _compared(name, kept)


def _compared(name: RungName, kept: Sequence[Kept]) -> Rung:
    """Return a rung as equal if anything on it was recorded, else as not recorded."""
    if any(name in one.recorded for one in kept):
        return Rung(rung=name, status="equal")
    return Rung(rung=name, status="not_recorded", statement=_why_not(name, kept))


def _why_not(name: RungName, kept: Sequence[Kept]) -> NotCompared | None:
    """Return why nothing on a rung could be compared, as far as that is known."""
    if (name, len(kept)) == ("reduced gradient", 1):
        return NotCompared(why="one rank")
    algorithms = next(filter(None, map(attrgetter("algorithms"), kept)), None)
    if algorithms is not None:
        return other_algorithms(algorithms)
    if name != "forward":
        return None
    shown = filter(None, map(attrgetter("shows_forward"), kept))
    return next((NotCompared(why="hidden forward", names=(by,)) for by in shown), None)


def other_algorithms(algorithms: Algorithms) -> NotCompared:
    """Return the statement that two traces hash with different algorithms."""
    return NotCompared(why="other algorithms", names=(algorithms.first, algorithms.second))


def _states(kept: Sequence[Kept], for_weights: Sequence[str]) -> Rung:
    """Return the rung of the generators if nothing draws from a generator whose state differs.

    `for_weights` names the generators whose states differed when weights were made.
    """
    if not any(map(attrgetter("states"), kept)):
        return Rung(rung="RNG state", status="not_recorded")
    hidden = sorted(set(chain.from_iterable(one.unequal_at_the_start for one in kept)))
    if hidden:
        statement = NotCompared(why="unknown draws", names=tuple(hidden))
        return Rung(rung="RNG state", status="not_recorded", statement=statement)
    unused = tuple(sorted(set(chain.from_iterable(one.unused for one in kept))))
    without_effect = None
    if for_weights or unused:
        without_effect = WithoutEffect(at_weights=tuple(for_weights), unused=unused)
    return Rung(
        rung="RNG state", status="equal", statement=without_effect, unused_generators=unused
    )


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
