"""For a comment or a summary page: a table a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from reprocheck.scan.finding import Finding, Result, Unreadable
from reprocheck.scan.formats import can_be_fixed, sentence, summary


def render(result: Result) -> str:
    """A heading, a table for each file with findings, and the files that were left out."""
    rows = ["# reprocheck scan", "", summary(result)]
    text = can_be_fixed(result)
    if text:
        rows += ["", text]
    for path, found in groupby(result.findings, key=lambda finding: finding.path):
        rows += [
            "",
            f"## `{path}`",
            "",
            "| line | severity | rule | what is wrong | fix |",
            "|---|---|---|---|---|",
        ]
        rows += [_row(finding) for finding in found]
    for title, partly in (("Left out", False), ("Scanned in part", True)):
        reasons = list(_reasons(one for one in result.unreadable if one.partly is partly))
        if reasons:
            rows += ["", f"## {title}", "", *reasons]
    return "\n".join(rows) + "\n"


def _row(finding: Finding) -> str:
    line = f"{finding.line}"
    if finding.cell is not None:
        line = f"cell {finding.cell}, {finding.line}"
    message = sentence(finding)
    return (
        f"| {line} | {finding.severity} | {finding.code} {finding.name} | {_cell(message)} |"
        f" {_code(finding.fix)} |"
    )


def _reasons(files: Iterable[Unreadable]) -> Iterator[str]:
    for one in files:
        place = f"`{one.path}`"
        if one.line is not None:
            place += f", line {one.line}"
        yield f"- {place}: {_cell(one.reason)}"


def _cell(text: str) -> str:
    """Text in a cell of a table. What stands between backticks stays as it is."""
    parts = re.split(r"(`[^`]*`)", text.replace("\n", " "))
    return "".join(map(_escaped, parts)).replace("|", "\\|")


def _escaped(part: str) -> str:
    if part.startswith("`"):
        return part
    return re.sub(r"([\\*_<>\[\]~])", r"\\\1", part)


def _code(text: str) -> str:
    if not text:
        return ""
    if text.endswith(".") or "`" in text:
        return _cell(text)
    return f"`{text}`".replace("|", "\\|")
