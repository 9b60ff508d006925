"""The mirrors of a check, for report.json."""

from __future__ import annotations

from reprocheck.model import Check, SourceLine
from reprocheck.report.json_parts import attributes, source_line
from reprocheck.settings.relations import TABLE, rows_of

_FIELDS = ("name", "expects", "does", "needs", "frameworks", "limits")


def document(check: Check) -> dict[str, object]:
    """Return what should differ inside run 1 and is the same, and what was not seen."""
    mirrors = check.verdict.mirrors
    names = ("kind", "between", "place", "count", "generator", "asked")
    needs = {row["name"]: row["needs"] for row in rows_of(TABLE, "mirror", _FIELDS)}
    return {
        "found": [
            {**attributes(one, *names), "source": source_line(SourceLine.of(one.line))}
            for one in mirrors.found
        ],
        "not_seen": [{"kind": kind, "needs": needs.get(kind, "")} for kind in mirrors.not_seen],
    }
