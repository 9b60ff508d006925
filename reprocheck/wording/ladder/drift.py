"""Whether the difference between two recordings is drift that was to be expected, in words."""

from __future__ import annotations

from reprocheck.language import form, mark, sentences, shortlist, tr
from reprocheck.model.statements.drift import Noise, SidesCompared
from reprocheck.wording.ladder import words
from reprocheck.wording.say import say

_REST = {
    True: mark("what differs was not recorded"),
    False: mark("it is noise from run to run, or comes from what was not recorded"),
}
"""Whether runs of one side are known to agree -> what the difference between the sides is."""


@say.register
def sides_compared(sides: SidesCompared) -> str:
    """Say whether what was seen is what the differences of the environment let one expect."""
    what = shortlist([tr("the {title}", title=tr(title)) for title in sides.acting])
    if sides.equal is None:
        return tr("No losses were compared, so drift cannot be judged.")
    if sides.beside or sides.equal:
        return _equal(sides, what)
    if sides.noise is not None:
        return _noisy(sides.noise)
    return sentences(_quiet(sides), _expected(sides, what))


def _equal(sides: SidesCompared, what: str) -> str:
    """Return that all losses are equal; `what`: where the sides differ nevertheless."""
    although = ""
    if sides.acting:
        although = tr(", although they differ in {what}", what=what)
    if not sides.beside:
        return tr("Both sides agree in every bit{although}.", although=although)
    names = shortlist(list(map(words.code, sides.beside)))
    return tr(
        "All losses of both sides are equal in every bit{although}; {differ} beside them.",
        although=although,
        differ=form(len(sides.beside), "{names} differs", "{names} differ", names=names),
    )


def _expected(sides: SidesCompared, what: str) -> str:
    if not sides.acting:
        agree = tr("The sides agree in all of the environment that affects numbers")
        return tr("{agree}: {rest}.", agree=agree, rest=tr(_REST[bool(sides.quiet)]))
    if sides.anything:
        return tr(
            "The sides differ in {what}, which can cause any difference; the ladder shows"
            " where it begins.",
            what=what,
        )
    expected = form(
        len(sides.acting),
        "expected where {what} differs",
        "expected where {what} differ",
        what=what,
    )
    if sides.rounding:
        return tr("The difference is at rounding level, as is {expected}.", expected=expected)
    return tr(
        "The difference is more than rounding, and so more than is {expected}.", expected=expected
    )


def _noisy(noise: Noise) -> str:
    """Return what the noise within a side explains."""
    own = tr(
        "Runs of {names} differ among themselves, by up to {most:.3g} in a checked loss",
        names=shortlist(noise.sides),
        most=noise.most,
    )
    if noise.between is None:
        return words.sentence(own)
    if noise.between <= 2 * noise.most:
        return tr(
            "{own}: the difference between the sides, {max_difference:.3g}, is noise from run"
            " to run and no sign of drift.",
            own=own,
            max_difference=noise.between,
        )
    return tr(
        "{own}; the difference between the sides, {max_difference:.3g}, is larger than that.",
        own=own,
        max_difference=noise.between,
    )


def _quiet(sides: SidesCompared) -> str:
    """Return that the runs of each side agree; "" where that is not known of both."""
    if not sides.quiet:
        return ""
    return tr(
        "From run to run each side agrees in every bit ({listed} runs).",
        listed=shortlist(list(map(str, sides.quiet))),
    )
