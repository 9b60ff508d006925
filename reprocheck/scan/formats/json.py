"""Render a result as JSON, for programs: every finding with all its fields."""

from __future__ import annotations

import json
from dataclasses import asdict

import msgspec

from reprocheck.scan.finding import Finding, Result

VERSION = 1


def render(result: Result) -> str:
    """Return a JSON object: new, suppressed, known and gone findings, and unreadable files."""
    table = {
        "schema_version": VERSION,
        "findings": [_row(finding) for finding in result.findings],
        "suppressed": [_row(finding) for finding in result.suppressed],
        "known": [_row(finding) for finding in result.known],
        "gone": [msgspec.structs.asdict(one) for one in result.gone],
        "unreadable": [asdict(one) for one in result.unreadable],
        "files": result.files,
        "lines": result.lines,
        "outside": result.outside,
        "unread": result.unread,
    }
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"


def _row(finding: Finding) -> dict[str, object]:
    row = asdict(finding)
    del row["fix_from"]
    if finding.cell is None:
        del row["joined_line"]
    return row
