"""The sentences of a check, made once it is whole."""

from __future__ import annotations

from reprocheck.model import Check
from reprocheck.wording import (
    causes,
    check as whole,
    fixes as fixes,
    ladder,
    search,
    trace,
    verdict,
)


def told(check: Check) -> Check:
    """Return the check with its sentences, in the language that is spoken."""
    check = whole.told(verdict.told(trace.told(check)))
    check = ladder.told(check)
    check = search.told(check)
    return causes.told(check)
