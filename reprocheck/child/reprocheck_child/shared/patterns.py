"""Patterns of paths, as `fnmatch` reads them."""

from __future__ import annotations

import re

_WILD = re.compile(r"[*?[]")


def fixed_start(pattern: str) -> str:
    """Return the beginning that all paths have that match a pattern.

    >>> fixed_start("/runs/step-*/model.pt")
    '/runs/step-'
    """
    return _WILD.split(pattern, maxsplit=1)[0]
