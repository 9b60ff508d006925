"""The sentences of the causes."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.model import Cause, Check
from reprocheck.wording.say import say


def told(check: Check) -> Check:
    """Return the check with the sentences of its causes."""
    return replace(check, causes=tuple(map(_told, check.causes)))


def _told(cause: Cause) -> Cause:
    return replace(cause, evidence=tuple(map(say, cause.statements)))
