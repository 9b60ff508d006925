"""Rungs without a difference in words: why nothing was compared, and which generators differ
without an effect.
"""

from __future__ import annotations

from reprocheck.model.statements.agreeing import NotCompared, WithoutEffect
from reprocheck.wording.ladder import words
from reprocheck.wording.say import say

_MOST_WEIGHTS = 3


@say.register
def not_compared(rung: NotCompared) -> str:
    """Say why nothing of a rung was compared, or only a part."""
    match rung.why:
        case "one rank":
            return "There is only one rank: nothing is reduced."
        case "other algorithms":
            first, second = rung.names
            return (
                f"The runs were recorded with different hash algorithms ({first}, {second}): not"
                " comparable."
            )
        case "hidden forward":
            return (
                f"A compiled function hides the inputs and outputs of layers; {rung.names[0]}"
                " shows them, possibly with other bits."
            )
        case "unknown draws":
            return (
                f"The states of {words.generators(rung.names)} differ, and whether the first"
                " weights were drawn from them was not recorded."
            )
    unseen = (
        f"The first values of {words.named(rung.names, _MOST_WEIGHTS)} were not"
        " recorded: they could not be read before the first update."
    )
    if not rung.others_agree:
        return unseen
    return f"{unseen} Those of the other weights agree."


@say.register
def without_effect(generators: WithoutEffect) -> str:
    """Say which generators differ without an effect."""
    parts = []
    if generators.at_weights:
        parts.append(
            f"The state of {words.generators(generators.at_weights)} differed when the weights were"
            " made; the generators that the iterations draw from agree."
        )
    if generators.unused:
        them = "it" if len(generators.unused) == 1 else "them"
        parts.append(
            f"The state of {words.generators(generators.unused)} differs and nothing recorded draws"
            f" from {them}: unused."
        )
    return " ".join(parts)
