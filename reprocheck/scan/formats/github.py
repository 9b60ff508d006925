"""Render a result for GitHub Actions: workflow commands that annotate lines of a pull request."""

from __future__ import annotations

from reprocheck.scan.finding import Finding, Result, Unreadable
from reprocheck.scan.formats import sentence, summary

LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render(result: Result) -> str:
    """Return a workflow command for each finding and each file left out, then the summary."""
    rows = [_finding(finding) for finding in result.findings]
    rows += [_left_out(one) for one in result.unreadable]
    return "\n".join([*rows, summary(result)]) + "\n"


def _left_out(one: Unreadable) -> str:
    level = "warning"
    if one.partly:
        level = "notice"
    place = f"file={_property(one.path)},line={one.line or 1}"
    return f"::{level} {place},title=reprocheck scan::{_data(one.said)}"


def _finding(finding: Finding) -> str:
    title = _property(f"{finding.code} {finding.name}")
    properties = [f"file={_property(finding.path)}", f"title={title}"]
    cell = ""
    if finding.cell is None:
        properties[1:1] = [f"line={finding.line}", f"endLine={finding.end_line}"]
        if finding.end_line == finding.line:
            properties[3:3] = [f"col={finding.column}", f"endColumn={finding.end_column}"]
    else:
        cell = f"cell {finding.cell}, line {finding.line}: "
    message = f"{cell}{sentence(finding)}"
    if finding.fix:
        message += f"\nfix: {finding.fix}"
    return f"::{LEVELS[finding.severity]} {','.join(properties)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
