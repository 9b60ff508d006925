"""What the scan finds in the source of a check, beside what its runs show of these places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.why import SourceLine

Executed = Literal["executed", "entered", "not_seen"]
"""`executed`: the recorded runs passed the line. `entered`: they entered the function (or imported the file) in which it stands, and the
line depends on a condition there. `not_seen`: neither was seen, which is no proof: compiled code and worker processes leave no trace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticFinding:
    """A finding of the scan. `precedes`: whether it was executed before the first difference was recorded; None where that is not known."""

    code: str
    name: str
    severity: Literal["error", "warning", "note"]
    message: str
    source: SourceLine
    fix: str = ""
    executed: Executed = "not_seen"
    precedes: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticScan:
    """All findings in the script and in what it imports of the user's: those that precede the first difference first."""

    findings: tuple[StaticFinding, ...]
    files: int = 0
    lines: int = 0

    @property
    def executed(self) -> tuple[StaticFinding, ...]:
        """Those whose line the recorded runs passed."""
        return tuple(one for one in self.findings if one.executed == "executed")

    @property
    def preceding(self) -> tuple[StaticFinding, ...]:
        """Those of them that did so before the first difference."""
        return tuple(one for one in self.findings if one.precedes)
