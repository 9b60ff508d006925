"""How many findings each rule has, the most frequent first."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from reprocheck.rules.catalogue import Severity
from reprocheck.scan.finding import SEVERITIES, Finding, Result


@dataclass(frozen=True, kw_only=True, slots=True)
class OfRule:
    """The findings of one rule.

    severity    the most severe of them
    fixable     how many of them `--fix` fixes
    files       in how many files they are
    """

    code: str
    name: str
    severity: Severity
    count: int
    fixable: int
    files: int


def of_rules(result: Result) -> list[OfRule]:
    """One for each rule that has findings."""
    by_code: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in result.findings:
        by_code[finding.code].append(finding)
    counted = [_of_rule(found) for found in by_code.values()]
    return sorted(counted, key=lambda one: (-one.count, one.code))


def rows(result: Result) -> Iterator[str]:
    """The numbers as lines for the terminal."""
    counted = of_rules(result)
    digits = max((len(f"{one.count:,}") for one in counted), default=0)
    for one in counted:
        code = f"{one.code:5}"
        if one.code == one.name:
            code = " " * len("RC000")
        row = f"{one.count:>{digits},}  {one.severity:7}  {code}  {one.name}"
        if one.fixable:
            row += f" [--fix: {one.fixable:,}]"
        yield row


def as_json(result: Result) -> str:
    """The numbers as a list of objects."""
    return json.dumps([asdict(one) for one in of_rules(result)], indent=2) + "\n"


def _of_rule(found: list[Finding]) -> OfRule:
    first = found[0]
    return OfRule(
        code=first.code,
        name=first.name,
        severity=min((one.severity for one in found), key=SEVERITIES.index),
        count=len(found),
        fixable=sum(one.patchable for one in found),
        files=len({one.path for one in found}),
    )
