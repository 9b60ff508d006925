"""How sets of ranks are called in a sentence, and what several ranks have to say said once: what
all parts that speak of ranks share.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from reprocheck.language import form, listed, tr

_Said = TypeVar("_Said", bound=Hashable)
_MOST = 8
"""Stretches of consecutive ranks that are named."""


def named(ranks: Sequence[int]) -> str:
    """`rank 3`, `ranks 0–2 and 7`; of many stretches the first eight."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    words = [text for first, last in spans for text in _words(first, last)]
    if len(words) > _MOST:
        words[_MOST:] = [tr("{number} more", number=len(words) - _MOST)]
    return form(len(ranks), "rank {listed}", "ranks {listed}", listed=listed(words))


def together(said: Iterable[tuple[int, _Said]]) -> Iterator[tuple[tuple[int, ...], _Said]]:
    """Yield what is said of ranks, each once, in their order: with the ranks that it is said of."""
    ranks: dict[_Said, set[int]] = {}
    for rank, statement in said:
        ranks.setdefault(statement, set()).add(rank)
    return ((tuple(sorted(of)), statement) for statement, of in ranks.items())


def _words(first: int, last: int) -> list[str]:
    if first == last:
        return [str(first)]
    if last == first + 1:
        return [str(first), str(last)]
    return [f"{first}–{last}"]
