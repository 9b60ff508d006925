"""Render a result as SARIF 2.1.0 for code scanning services.

Rules with help texts, results with places and fingerprints that survive moved lines.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reprocheck._version import __version__
from reprocheck.rules import find
from reprocheck.rules.fix_text import is_code, language
from reprocheck.scan.finding import UNUSED_IGNORE, Finding, Result, Unreadable
from reprocheck.scan.formats import sentence

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE = "%SRCROOT%"

Table = dict[str, Any]


def render(result: Result) -> str:
    """Return the result as a SARIF log with one run."""
    findings = (*result.findings, *result.suppressed)
    codes = sorted({finding.code for finding in findings})
    run: Table = {
        "tool": {
            "driver": {
                "name": "reprocheck",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            BASE: {"description": {"text": "The folder in which reprocheck was started."}}
        },
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(one) for one in result.unreadable],
            }
        ],
        "results": _results(findings, codes),
    }
    table = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"


def _rule(code: str) -> Table:
    entry = find(code)
    if entry is None:
        return {
            "id": UNUSED_IGNORE,
            "name": "UnusedIgnore",
            "shortDescription": {"text": "A comment answers no finding"},
            "fullDescription": {
                "text": (
                    "An ignore comment stands where nothing is found, or names a rule that does not"
                    " exist."
                )
            },
            "help": {"text": "Remove the comment."},
            "defaultConfiguration": {"level": "note"},
        }
    problem = {"error": "error", "warning": "warning", "note": "recommendation"}[entry.severity]
    help = f"{entry.why}\n\nFix:\n{entry.fix}\n\nHas it:\n{entry.bad}\n\nHas not:\n{entry.good}"
    fix = entry.fix
    if is_code(fix):
        fix = _fenced(fix)
    help_markdown = (
        f"{entry.why}\n\n**Fix**\n\n{fix}\n\n**Has it**\n\n{_fenced(entry.bad)}\n\n**Has"
        f" not**\n\n{_fenced(entry.good)}"
    )
    return {
        "id": entry.code,
        "name": "".join(part.capitalize() for part in entry.name.split("-")),
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.why},
        "help": {"text": help, "markdown": help_markdown},
        "defaultConfiguration": {"level": entry.severity},
        "properties": {
            "tags": ["reproducibility", *entry.frameworks],
            "precision": "high",
            "problem.severity": problem,
        },
    }


def _fenced(code: str) -> str:
    return f"```{language(code)}\n{code}\n```"


def _results(findings: Iterable[Finding], codes: list[str]) -> list[Table]:
    seen: Counter[str] = Counter()
    rows = []
    for finding in findings:
        print_ = f"{finding.code}\n{finding.path}\n{' '.join(finding.text.split())}"
        seen[print_] += 1
        hashed = f"{print_}\n{seen[print_]}".encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(hashed).hexdigest()[:32]
        rule = codes.index(finding.code)
        message = sentence(finding)
        if finding.cell is not None:
            message = f"Cell {finding.cell}, line {finding.line}: {message}"
        if finding.fix:
            message += f" Fix: {finding.fix}"
        # File and region. Lines of a cell are not those of the notebook's file, so a notebook has
        # the cell as a logical place instead.
        physical: Table = {"artifactLocation": _artifact(finding.path)}
        if finding.cell is not None:
            cell = {"name": f"cell {finding.cell}", "kind": "module"}
            location = {"physicalLocation": physical, "logicalLocations": [cell]}
        else:
            physical["region"] = {
                "startLine": finding.line,
                "startColumn": finding.column,
                "endLine": finding.end_line,
                "endColumn": max(finding.end_column, 1),
                "snippet": {"text": finding.text},
            }
            location = {"physicalLocation": physical}
        row: Table = {
            "ruleId": finding.code,
            "ruleIndex": rule,
            "level": finding.severity,
            "message": {"text": message},
            "locations": [location],
            "partialFingerprints": {"reprocheck/v1": digest},
        }
        if finding.suppressed is not None:
            row["suppressions"] = [{"kind": "inSource", "justification": finding.suppressed}]
        rows.append(row)
    return rows


def _artifact(path: str) -> Table:
    if path.startswith("/"):
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path), "uriBaseId": BASE}


def _notification(one: Unreadable) -> Table:
    physical: Table = {"artifactLocation": _artifact(one.path)}
    if one.line is not None and one.line > 0:
        physical["region"] = {"startLine": one.line}
    level = "warning"
    if one.partly:
        level = "note"
    place = {"physicalLocation": physical}
    return {"level": level, "message": {"text": one.said}, "locations": [place]}
