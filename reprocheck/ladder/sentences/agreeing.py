"""Rungs without a difference in words: why nothing was compared, and which generators differ
without an effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.ladder import words
from reprocheck.ladder.compare import Algorithms
from reprocheck.language import mark, sentences, tr

_MOST_WEIGHTS = 3

ONE_RANK = mark("There is only one rank: nothing is reduced.")


def incomparable(algorithms: Algorithms) -> str:
    """Traces that hash with different algorithms."""
    return tr(
        "The runs were recorded with different hash algorithms ({first},"
        " {second}): not comparable.",
        first=algorithms.first,
        second=algorithms.second,
    )


def compiled(shown: str) -> str:
    """Return a forward pass that a compiled function hides; `shown`: what shows it."""
    return tr(
        "A compiled function hides the inputs and outputs of layers; {shown} shows them, possibly"
        " with other bits.",
        shown=shown,
    )


def unseen_weights(names: Sequence[str], *, others_agree: bool) -> str:
    """Return weights that were not seen before their first update."""
    unseen = tr(
        "The first values of {which} were not recorded: they could not be read before the first"
        " update.",
        which=words.named(names, _MOST_WEIGHTS),
    )
    if not others_agree:
        return unseen
    return sentences(unseen, tr("Those of the other weights agree."))


def unknown_draws(names: Sequence[str]) -> str:
    """Return generators that weights whose first values nobody saw may have been drawn from."""
    return words.sentence(
        tr(
            "the states of {generators} differ, and whether the first weights were drawn"
            " from them was not recorded",
            generators=words.generators(names),
        )
    )


def unequal_at_weights(names: Sequence[str]) -> str:
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


def unused(names: Sequence[str]) -> str:
    """Return generators that differ and that nobody draws from change nothing."""
    if not names:
        return ""
    return words.sentence(
        tr(
            "the state of {generators} differs and nothing recorded draws from {them}: unused",
            generators=words.generators(names),
            them=words.agreeing(names, "it", "them"),
        )
    )
