"""Rungs without a difference in words: why nothing was compared, and which generators differ
without an effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.language import form, sentences, tr
from reprocheck.model.statements.agreeing import NotCompared, WithoutEffect
from reprocheck.wording.ladder import words
from reprocheck.wording.say import say

_MOST_WEIGHTS = 3


@say.register
def not_compared(rung: NotCompared) -> str:
    """Say why nothing of a rung was compared, or not all of it."""
    match rung.why:
        case "one rank":
            return tr("There is only one rank: nothing is reduced.")
        case "other algorithms":
            first, second = rung.names
            return tr(
                "The runs were recorded with different hash algorithms ({first},"
                " {second}): not comparable.",
                first=first,
                second=second,
            )
        case "hidden forward":
            return tr(
                "A compiled function hides the inputs and outputs of layers; {shown} shows them,"
                " possibly with other bits.",
                shown=rung.names[0],
            )
        case "unknown draws":
            unknown = tr(
                "the states of {generators} differ, and whether the first weights were drawn"
                " from them was not recorded",
                generators=words.generators(rung.names),
            )
            return words.sentence(unknown)
    unseen = tr(
        "The first values of {which} were not recorded: they could not be read before the first"
        " update.",
        which=words.named(rung.names, _MOST_WEIGHTS),
    )
    if not rung.others_agree:
        return unseen
    return sentences(unseen, tr("Those of the other weights agree."))


@say.register
def without_effect(generators: WithoutEffect) -> str:
    """Say which generators differ without an effect."""
    return sentences(_at_weights(generators.at_weights), _unused(generators.unused))


def _at_weights(names: Sequence[str]) -> str:
    """Return generators that agree since the weights were made."""
    if not names:
        return ""
    return words.sentence(
        tr(
            "the state of {generators} differed when the weights were made; the"
            " generators that the iterations draw from agree",
            generators=words.generators(names),
        )
    )


def _unused(names: Sequence[str]) -> str:
    """Return generators that differ and that nobody draws from change nothing."""
    if not names:
        return ""
    return words.sentence(
        tr(
            "the state of {generators} differs and nothing recorded draws from {them}: unused",
            generators=words.generators(names),
            them=form(len(names), "it", "them"),
        )
    )
