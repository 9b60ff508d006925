"""What the catalogue says of the causes that a check names: for readers who have the page and
nothing else.
"""

from __future__ import annotations

from reprocheck import rules
from reprocheck.model import Check
from reprocheck.rules import Entry

MOST = 6
"""Entries on a page at most."""


def entries(check: Check) -> tuple[Entry, ...]:
    """Return the entries of the causes, in their order, each once; none of a code that is not in
    the catalogue any more.
    """
    found = {
        known.code: known for cause in check.causes if (known := rules.find(cause.code)) is not None
    }
    return tuple(found.values())[:MOST]


def codes(check: Check) -> frozenset[str]:
    """Return the codes of those entries."""
    return frozenset(known.code for known in entries(check))
