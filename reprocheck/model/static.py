"""What the scan finds in the source of a check, beside what its runs show of these places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.explanation import Cause, FixFrom, SourceLine

Executed = Literal["executed", "entered", "not_executed", "not_seen"]
"""`executed`: the recorded runs passed the line.

`entered`: they entered the function (or imported the file) in which it stands, and the line depends
on a condition there. `not_executed`: they took the other branch of an `if` that runs once.
`not_seen`: none of these was seen, which is no proof: compiled code and worker processes leave no
trace.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticFinding:
    """A finding of the scan.

    fix_from    what its fix is made for: the place, or every program
    precedes    whether the line was executed before the first difference was recorded; None if
                unknown
    patchable   whether the scan can write a patch; `fix` says then what the patch does
    editable    whether the scan knows a change, even one that may be wrong until runs have tried it
    origin      the line that makes a number which another statement sets as a seed
    used        the lines that set the number as a seed
    """

    code: str
    name: str
    severity: Literal["error", "warning", "note"]
    message: str
    source: SourceLine
    fix: str = ""
    fix_from: FixFrom = "place"
    patchable: bool = False
    editable: bool = False
    executed: Executed = "not_seen"
    precedes: bool | None = None
    origin: SourceLine | None = None
    used: tuple[SourceLine, ...] = ()

    @property
    def fix_name(self) -> str:
        """Name the patch of this finding, such as `RC402 train.py:3`."""
        return f"{self.code} {self.source.at}"

    @property
    def changed(self) -> SourceLine:
        """The line to change: `origin`, if a number made there is wrong as a seed."""
        return self.origin or self.source

    @property
    def seeds_at(self) -> frozenset[str]:
        """Return the line that sets a number as a seed, if another line makes the number."""
        if self.origin is None:
            return frozenset()
        return frozenset(line.at for line in self.used)

    def is_for(self, cause: Cause) -> bool:
        """Return whether the finding fits a cause.

        It is of the same kind, and on the line of the cause or on a line that uses the number made
        there.
        """
        lines = {self.source.at, self.changed.at}
        return self.code == cause.code and cause.at in lines

    @property
    def tells_fix(self) -> bool:
        """Return whether the fix says what to do, and not only where to read about it."""
        return bool(self.fix) and self.fix_from != "page"

    @property
    def ran(self) -> bool:
        """Return whether the line of the finding was executed, or its function was entered."""
        return self.executed in ("executed", "entered")

    @property
    def may_change_results(self) -> bool:
        """Return whether the finding is more than a remark."""
        return self.severity != "note"


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticScan:
    """All findings in the script and in the user's files that it imports.

    Findings executed before the first difference come first.
    """

    findings: tuple[StaticFinding, ...]
    files: int = 0
    lines: int = 0

    @property
    def executed(self) -> tuple[StaticFinding, ...]:
        """Those whose line the recorded runs passed."""
        return tuple(one for one in self.findings if one.executed == "executed")

    @property
    def preceding(self) -> tuple[StaticFinding, ...]:
        """The findings that were executed before the first difference."""
        return tuple(one for one in self.findings if one.precedes)

    @property
    def possible(self) -> tuple[StaticFinding, ...]:
        """Return the findings that the runs do not contradict.

        Passed before the first difference, or neither seen to be passed nor passed over.
        """
        unknown = ("entered", "not_seen")
        return tuple(
            one
            for one in self.findings
            if one.precedes or (one.executed in unknown and one.precedes is None)
        )
