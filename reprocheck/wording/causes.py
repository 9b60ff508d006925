"""The sentences of the causes."""

from __future__ import annotations

from reprocheck.model import Check


def told(check: Check) -> Check:
    """Return the check with the sentences of the causes."""
    return check
