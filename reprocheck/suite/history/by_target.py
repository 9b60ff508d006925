"""Rows of several targets, of which those of one are in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Generic, TypeVar

T = TypeVar("T")


class ByTarget(Generic[T]):
    """Hand out rows that are sorted by target; targets are asked for in the same order."""

    def __init__(self, rows: Iterable[T]) -> None:
        self._groups = groupby(rows, attrgetter("target"))
        self._next = next(self._groups, None)

    def of(self, target: str) -> list[T]:
        """Return the rows of a target."""
        while self._next is not None and self._next[0] < target:
            self._next = next(self._groups, None)
        if self._next is None or self._next[0] != target:
            return []
        return list(self._next[1])
