"""What the commands of the suite say of a check."""

from __future__ import annotations

from reprocheck import rules
from reprocheck.suite.model import TargetCheck


def cause_of(check: TargetCheck) -> str:
    """Format the first cause of a check with its line: `RC604 The loader shuffles: train.py:12`."""
    code = check.causes[0]
    known = rules.find(code)
    said = code
    if known is not None:
        said = f"{code} {known.title}"
    if check.source:
        said = f"{said}: {check.source}"
    return said
