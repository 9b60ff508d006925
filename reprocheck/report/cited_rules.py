"""What the catalogue says of the causes that a check names: for readers who have the page and
nothing else.
"""

from __future__ import annotations

from reprocheck import rules
from reprocheck.model import Check
from reprocheck.rules import Entry
from reprocheck.wording.catalogue import translated

MOST = 6
"""Entries on a page at most."""


def entries(check: Check) -> tuple[Entry, ...]:
    """Return the entries of the causes, in their order, each once; none of a code that is not in
    the catalogue any more.
    """
    found = map(rules.find, dict.fromkeys(cause.code for cause in check.causes))
    return tuple(map(translated, filter(None, found)))[:MOST]


def codes(check: Check) -> frozenset[str]:
    """Return the codes of those entries."""
    return frozenset(known.code for known in entries(check))
