"""What several ranks have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

_Fact = TypeVar("_Fact", bound=Hashable)


def together(facts: Iterable[tuple[int, _Fact]]) -> Iterator[tuple[tuple[int, ...], _Fact]]:
    """Group facts of ranks: yield each fact once, in order of first appearance, with its ranks."""
    ranks: dict[_Fact, set[int]] = {}
    for rank, fact in facts:
        ranks.setdefault(fact, set()).add(rank)
    return ((tuple(sorted(of)), fact) for fact, of in ranks.items())
