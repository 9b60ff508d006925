"""Several names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck import language
from reprocheck.language import tr


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return `a, b and c`, the rest counted."""
    if not names:
        return ""
    if len(names) <= most:
        return language.listed(names)
    return language.listed([*names[:most], tr("{number} more", number=len(names) - most)])
