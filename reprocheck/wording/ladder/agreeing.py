"""Rungs without a difference in words: why nothing was compared, and which generators differ
without an effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.language import form, sentences, tr
from reprocheck.model.statements.agreeing import (
    HiddenForward,
    OneRank,
    OtherAlgorithms,
    UnknownDraws,
    UnseenWeights,
    WithoutEffect,
)
from reprocheck.wording.ladder import words
from reprocheck.wording.say import say

_MOST_WEIGHTS = 3


@say.register
def one_rank(_: OneRank) -> str:
    """Say why no reduced gradient is compared."""
    return tr("There is only one rank: nothing is reduced.")


@say.register
def incomparable(algorithms: OtherAlgorithms) -> str:
    """Say that the traces hash with different algorithms."""
    return tr(
        "The runs were recorded with different hash algorithms ({first},"
        " {second}): not comparable.",
        first=algorithms.first,
        second=algorithms.second,
    )


@say.register
def compiled(hidden: HiddenForward) -> str:
    """Say that a compiled function hides the forward pass."""
    return tr(
        "A compiled function hides the inputs and outputs of layers; {shown} shows them, possibly"
        " with other bits.",
        shown=hidden.shown_by,
    )


@say.register
def unseen_weights(unseen: UnseenWeights) -> str:
    """Say which weights were not seen before their first update."""
    said = tr(
        "The first values of {which} were not recorded: they could not be read before the first"
        " update.",
        which=words.named(unseen.names, _MOST_WEIGHTS),
    )
    if not unseen.others_agree:
        return said
    return sentences(said, tr("Those of the other weights agree."))


@say.register
def unknown_draws(unknown: UnknownDraws) -> str:
    """Say which generators weights whose first values nobody saw may have been drawn from."""
    return words.sentence(
        tr(
            "the states of {generators} differ, and whether the first weights were drawn"
            " from them was not recorded",
            generators=words.generators(unknown.names),
        )
    )


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
