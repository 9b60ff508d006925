"""The entries of the catalogue in the language that is spoken."""

from __future__ import annotations

from reprocheck.language import tag, tr
from reprocheck.rules import Entry


def translated(entry: Entry) -> Entry:
    """Return an entry with its title, and the fixes that are sentences, translated."""
    if tag() == "en":
        return entry
    return entry._replace(
        title=tr(entry.title),
        fix=tr(entry.fix),
        fixes={name: tr(fix) for name, fix in entry.fixes.items()},
        titles={name: tr(title) for name, title in entry.titles.items()},
    )
