"""Two recordings that were made apart: which differences of the environment stand between them, and
what was to be expected of those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from reprocheck.ladder import words
from reprocheck.ladder.given import of_the_user
from reprocheck.language import form, mark, sentences, tr
from reprocheck.model import Between, Check, Drift, EnvironmentDifference, Noise
from reprocheck.rules import drift_class, drift_classes

_ROUNDING = 1e-5
"""Relative differences of losses up to it are of rounding level."""


def between(check: Check) -> Between:
    """Return the drift between the two recordings of a check, after its ladder has been made."""
    known = check.between or Between(sentence="")
    drift = classes(check.environment_differences)
    return replace(known, sentence=_sentence(check, drift, known.noise), drift=drift)


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


def _sentence(check: Check, drift: Sequence[Drift], noise: Sequence[Noise]) -> str:
    """Return whether what was seen is what the differences of the environment let one expect."""
    acting = [one for one in drift if one.expects != "nothing"]
    what = words.listed([tr("the {title}", title=tr(one.title)) for one in acting])
    equal = check.verdict.bitwise.equal
    if equal is None:
        return tr("No losses were compared, so drift cannot be judged.")
    although = ""
    if acting:
        although = tr(", although they differ in {what}", what=what)
    beside = check.verdict.unequal_series
    if beside:
        names = words.listed([words.code(row.name) for row in beside])
        return tr(
            "All losses of both sides are equal in every bit{although}; {differ} beside them.",
            although=although,
            differ=form(len(beside), "{names} differs", "{names} differ", names=names),
        )
    if equal:
        return tr("Both sides agree in every bit{although}.", although=although)
    noisy = _noisy(check, noise)
    if noisy:
        return noisy
    known = _quiet(noise)
    if not acting:
        agree = tr("The sides agree in all of the environment that affects numbers")
        return sentences(known, tr("{agree}: {rest}.", agree=agree, rest=tr(_REST[bool(known)])))
    if "anything" in map(attrgetter("expects"), acting):
        return sentences(
            known,
            tr(
                "The sides differ in {what}, which can cause any difference; the ladder shows"
                " where it begins.",
                what=what,
            ),
        )
    expected = form(
        len(acting), "expected where {what} differs", "expected where {what} differ", what=what
    )
    if _rounding(check):
        return sentences(
            known, tr("The difference is at rounding level, as is {expected}.", expected=expected)
        )
    return sentences(
        known,
        tr(
            "The difference is more than rounding, and so more than is {expected}.",
            expected=expected,
        ),
    )


_REST = {
    True: mark("what differs was not recorded"),
    False: mark("it is noise from run to run, or comes from what was not recorded"),
}
"""Whether runs of one side are known to agree -> what the difference between the sides is."""


def _noisy(check: Check, noise: Sequence[Noise]) -> str:
    """Return what the noise within a side explains; "" where there is none."""
    loud = [one for one in noise if one.equal is False]
    if not loud:
        return ""
    most = max(filter(None, map(attrgetter("largest"), loud)), default=0.0)
    own = tr(
        "Runs of {names} differ among themselves, by up to {most:.3g} in a checked loss",
        names=words.listed([check.record.compared[one.side - 1].name for one in loud]),
        most=most,
    )
    row = check.verdict.largest
    if row is None or row.max_difference is None:
        return words.sentence(own)
    if row.max_difference <= 2 * most:
        return tr(
            "{own}: the difference between the sides, {max_difference:.3g}, is noise from run"
            " to run and no sign of drift.",
            own=own,
            max_difference=row.max_difference,
        )
    return tr(
        "{own}; the difference between the sides, {max_difference:.3g}, is larger than that.",
        own=own,
        max_difference=row.max_difference,
    )


def _quiet(noise: Sequence[Noise]) -> str:
    """Return the sentence that the runs of each side agree; "" where that is not known of both."""
    runs = [str(one.runs) for one in noise if one.equal]
    if len(runs) != 2:
        return ""
    return tr(
        "From run to run each side agrees in every bit ({listed} runs).", listed=words.listed(runs)
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
