"""The ranks that a sentence is about."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.language.ranks import named


def in_brackets(ranks: Sequence[int]) -> str:
    """Return ` (rank 3)`; "" where there is only one rank, which a sentence does not name."""
    return f" ({named(ranks)})" if ranks else ""


def behind_comma(ranks: Sequence[int]) -> str:
    """Return `, rank 3`; "" where there is only one rank."""
    return f", {named(ranks)}" if ranks else ""
