"""How sets of ranks are named in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.language import shortlist

_MOST = 8
"""Stretches of consecutive ranks that are named."""


def named(ranks: Sequence[int]) -> str:
    """Return `rank 3`, `ranks 0–2 and 7`; of many stretches the first eight."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    words: list[str] = []
    for first, last in spans:
        if last - first < 2:
            words += map(str, range(first, last + 1))
        else:
            words.append(f"{first}–{last}")
    noun = "rank" if len(ranks) == 1 else "ranks"
    return f"{noun} {shortlist(words, _MOST)}"
