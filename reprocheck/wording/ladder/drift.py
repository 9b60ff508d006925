"""Whether the difference between two recordings is drift that was to be expected, in words."""

from __future__ import annotations

from reprocheck.language import shortlist
from reprocheck.model.statements.drift import Noise, SidesCompared
from reprocheck.wording.ladder import words
from reprocheck.wording.say import say

_REST = {
    True: "what differs was not recorded",
    False: "it is noise from run to run, or comes from what was not recorded",
}
"""Whether runs of one side are known to agree -> what the difference between the sides is."""


@say.register
def sides_compared(sides: SidesCompared) -> str:
    """Say whether the differences of the environment can cause the observed difference."""
    what = shortlist([f"the {title}" for title in sides.acting])
    if sides.equal is None:
        return "No losses were compared, so drift cannot be judged."
    if sides.beside or sides.equal:
        return _equal(sides, what)
    if sides.noise is not None:
        return _noisy(sides.noise)
    if not sides.quiet:
        return _expected(sides, what)
    runs = shortlist(list(map(str, sides.quiet)))
    return f"From run to run each side agrees in every bit ({runs} runs). {_expected(sides, what)}"


def _equal(sides: SidesCompared, what: str) -> str:
    """Say that all losses are equal; `what`: what else differs between the sides."""
    although = ""
    if sides.acting:
        although = f", although they differ in {what}"
    if not sides.beside:
        return f"Both sides agree in every bit{although}."
    differ = "differs" if len(sides.beside) == 1 else "differ"
    return (
        f"All losses of both sides are equal in every bit{although}; {words.named(sides.beside)}"
        f" {differ} beside them."
    )


def _expected(sides: SidesCompared, what: str) -> str:
    if not sides.acting:
        agree = "The sides agree in all of the environment that affects numbers"
        return f"{agree}: {_REST[bool(sides.quiet)]}."
    if sides.anything:
        return (
            f"The sides differ in {what}, which can cause any difference; the ladder shows"
            " where it begins."
        )
    differ = "differs" if len(sides.acting) == 1 else "differ"
    expected = f"expected where {what} {differ}"
    if sides.rounding:
        return f"The difference is at rounding level, as is {expected}."
    return f"The difference is more than rounding, and so more than is {expected}."


def _noisy(noise: Noise) -> str:
    """Say what the differences among the runs of one side explain."""
    own = (
        f"Runs of {shortlist(noise.sides)} differ among themselves, by up to"
        f" {noise.most:.3g} in a checked loss"
    )
    if noise.between is None:
        return words.sentence(own)
    if noise.between <= 2 * noise.most:
        return (
            f"{own}: the difference between the sides, {noise.between:.3g}, is noise from"
            " run to run and no sign of drift."
        )
    return f"{own}; the difference between the sides, {noise.between:.3g}, is larger than that."
