"""What the commands of the suite say of a check."""

from __future__ import annotations

from reprocheck import rules
from reprocheck.suite.model import TargetCheck


def verdict_of(check: TargetCheck) -> str:
    """`REPRODUCIBLE`, `NOT REPRODUCIBLE (backward)`, `REPRODUCIBLE, DIVERGES from iteration 7`."""
    words = check.verdict.replace("_", " ").upper()
    if check.failed_check:
        return f"{words} ({check.failed_check})"
    if check.verdict == "reproducible" and check.first_divergence is not None:
        return f"{words} in the checks, DIVERGES from iteration {check.first_divergence}"
    return words


def cause_of(check: TargetCheck) -> str:
    """The first cause of a check, with its line: `RC604 The loader shuffles: train.py:12`."""
    code = check.causes[0]
    known = rules.find(code)
    said = code
    if known is not None:
        said = f"{code} {known.title}"
    if check.source:
        said = f"{said}: {check.source}"
    return said
