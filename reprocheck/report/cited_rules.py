"""What the catalogue says of the causes that a check names: for readers who have the page and
nothing else.
"""

from __future__ import annotations

from reprocheck import rules
from reprocheck.language import tr
from reprocheck.model import Check
from reprocheck.report.blocks import RuleEntry, Section, section
from reprocheck.rules import Entry
from reprocheck.wording.fixes import translated

MOST = 6
"""Entries on a page at most."""


def entries(check: Check) -> tuple[Entry, ...]:
    """Return the entries of the causes, in their order, each once; none of a code that is not in
    the catalogue any more.
    """
    found = map(rules.find, dict.fromkeys(cause.code for cause in check.causes))
    return tuple(map(translated, filter(None, found)))[:MOST]


def codes(check: Check) -> frozenset[str]:
    """Return the codes of the catalogue entries that a check cites."""
    return frozenset(known.code for known in entries(check))


def rules_of_causes(check: Check) -> Section | None:
    """Return the catalogue entries of the causes; None if there are none."""
    best = check.causes[0].code if check.causes else ""
    blocks = [
        RuleEntry(
            code=entry.code,
            name=entry.name,
            why=entry.why,
            shows=entry.shows,
            target="cause" if entry.code == best else "causes",
            rung=entry.rung if check.ladder is not None else "",
        )
        for entry in entries(check)
    ]
    return section("rules", tr("Rules"), blocks, detail=True)
