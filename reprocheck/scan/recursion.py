"""Raise the recursion limit for deeply nested code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

RECURSION = 6_000
"""Python calls inside of one another that an execution may take, and a text that is parsed again:
long expressions and deep calls need more than the default.
"""


@contextmanager
def deep() -> Iterator[None]:
    """Raise the recursion limit to at least `RECURSION` for the duration of a `with` block."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
