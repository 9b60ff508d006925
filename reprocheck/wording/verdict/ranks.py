"""The ranks that a sentence is about."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.language import replaced
from reprocheck.language.ranks import named

RANKS = "RANKS"
"""Stands in a sentence for the ranks that it is about."""
_PHRASES = (
    f" ({RANKS})",
    f", {RANKS}",
    f" of {RANKS}",
    f"（{RANKS}）",
    f"，{RANKS}",
    f"{RANKS} 的",
)
"""The forms in which a sentence names them, also in Chinese: without its phrase it still reads
well.
"""


def of_ranks(text: str, ranks: Sequence[int]) -> str:
    """Return a sentence with its ranks in the place of RANKS; where it has none, it names none."""
    if ranks:
        return replaced(text, RANKS, named(ranks))
    for phrase in _PHRASES:
        text = replaced(text, phrase, "")
    return text
