"""Two recordings that were made apart: which differences of the environment stand between them, and
what was to be expected of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reprocheck.ladder import words
from reprocheck.ladder.given import of_the_user
from reprocheck.model import Between, Check, Drift, EnvironmentDifference, Noise
from reprocheck.rules import drift_class, drift_classes


def between(check: Check) -> Between:
    """The drift between the two recordings of a check, after its ladder has been made."""
    known = check.between or Between(sentence="")
    drift = classes(check.environment_differences)
    return replace(known, sentence=_sentence(check, drift, known.noise), drift=drift)


def classes(differences: Sequence[EnvironmentDifference]) -> tuple[Drift, ...]:
    """The differences by class, in the order of the table; what both sides have comes before what
    one lacks, packages last.
    """
    found: dict[str, list[EnvironmentDifference]] = {}
    of_libraries = [
        one for one in differences if not of_the_user(one.key, one.reference, one.value)
    ]
    for difference in sorted(of_libraries, key=_weight):
        found.setdefault(drift_class(difference.key).name, []).append(difference)
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
        one.reference is None or one.value is None,
        not one.key.endswith(".version"),
    )


def _sentence(check: Check, drift: Sequence[Drift], noise: Sequence[Noise]) -> str:
    """Whether what was seen is what the differences of the environment let one expect."""
    acting = [one for one in drift if one.expects != "nothing"]
    what = words.listed([f"the {one.title}" for one in acting])
    if check.verdict.bitwise.equal is None:
        return "No losses were compared, so drift cannot be judged."
    if check.verdict.bitwise.equal:
        return "Both sides agree in every bit" + (
            f", although they differ in {what}." if acting else "."
        )
    if (noisy := _noisy(check, noise)) is not None:
        return noisy
    known = _quiet(noise)
    if not acting:
        rest = (
            "what differs was not recorded"
            if known
            else "it is noise from run to run, or comes from what was not recorded"
        )
        return f"{known}The sides agree in all of the environment that affects numbers: {rest}."
    if any(one.expects == "anything" for one in acting):
        return (
            f"{known}The sides differ in {what}, which can cause any difference; the ladder shows"
            " where it begins."
        )
    expected = f"expected where {what} differ{'s' if len(acting) == 1 else ''}"
    if _rounding(check):
        return f"{known}The difference is at rounding level, as is {expected}."
    return f"{known}The difference is more than rounding, and so more than is {expected}."


def _noisy(check: Check, noise: Sequence[Noise]) -> str | None:
    """What the noise within a side explains, where there is any."""
    loud = [one for one in noise if one.equal is False]
    if not loud:
        return None
    most = max((one.largest or 0.0) for one in loud)
    names = words.listed([_name(check, one.side) for one in loud])
    own = f"Runs of {names} differ among themselves, by up to {most:.3g} in a checked loss"
    row = check.verdict.largest
    if row is None or row.max_difference is None:
        return f"{own}."
    if row.max_difference <= 2 * most:
        return (
            f"{own}: the difference between the sides, {row.max_difference:.3g}, is noise from run"
            " to run and no sign of drift."
        )
    return (
        f"{own}; the difference between the sides, {row.max_difference:.3g}, is larger than that."
    )


def _quiet(noise: Sequence[Noise]) -> str:
    runs = [one.runs for one in noise if one.equal]
    return (
        "From run to run each side agrees in every bit"
        f" ({words.listed([str(count) for count in runs])} runs). "
        if len(runs) == 2
        else ""
    )


def _name(check: Check, side: int) -> str:
    sides = check.record.compared
    return sides[side - 1].name if side <= len(sides) else f"side {side}"


def _rounding(check: Check) -> bool:
    """Whether the first difference is of rounding level: by the ladder, else by the losses."""
    rung = check.ladder.first_rung if check.ladder else None
    if rung is not None and rung.size is not None:
        return rung.size == "rounding"
    row = check.verdict.largest
    return bool(
        row
        and row.max_difference is not None
        and row.reference
        and row.max_difference <= 1e-5 * abs(row.reference)
    )
