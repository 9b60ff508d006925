"""`reprocheck suite list`: the targets."""

from __future__ import annotations

from reprocheck.errors import UsageError


def command() -> int:
    """Lists the targets."""
    raise UsageError("No target is named.", "reprocheck suite init writes a table of targets.")
