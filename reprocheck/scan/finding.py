"""What the scan says: findings in files, and files that it could not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from reprocheck.rules.catalogue import Severity as Severity
from reprocheck.rules.fix_text import FixFrom

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""`error` changes results from run to run; `warning` can; `note` is worth knowing.

The first two make the exit code 1.
"""

UNUSED_IGNORE = "unused-ignore"
"""Stands where a code stands, for an ignore comment that matches nothing.

No entry of the catalogue: it is about the comment.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A place in the source where a rule applies.

    code, name      of the catalogue's entry; `unused-ignore` where it is about an ignore comment
    path            as shown: relative to the working directory where the file lies below it, with
                    forward slashes
    line, column    from 1, as editors count (a column is a character); in a notebook within cell
    `cell`, which counts all cells from 1
    text            the source line, without its line break
    fix             one line: what to do
    fix_from        what that is made for: the place, every program, or nothing but to say where to
                    read it
    patchable       whether `--fix` fixes it
    suppressed      the reason that an ignore comment gives, "no reason given" where it gives none;
                    None where there is no such comment
    joined_line     the line in the text that was parsed: that of the joined cells in a notebook,
                    else `line`
    edit_known      whether an edit is known, which may be wrong until runs have tried it
    evidence        names and values of the place, as the check gave them
    through         the calls, outermost first, by which an entry module comes here: `train.py:12`
    """

    code: str
    name: str
    severity: Severity
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    text: str = ""
    fix: str = ""
    fix_from: FixFrom = "place"
    cell: int | None = None
    patchable: bool = False
    suppressed: str | None = None
    joined_line: int = 0
    through: tuple[str, ...] = ()
    edit_known: bool = False
    evidence: Mapping[str, str] = field(default_factory=dict)

    @property
    def may_repeat(self) -> bool:
        """Return whether its place may run more than once, or in several processes, as
        `checks.repetition` has it.
        """
        return not self.evidence.keys().isdisjoint(("repeats", "ranks"))

    @property
    def is_editable(self) -> bool:
        """Return whether a change of it is known, also one that may be wrong until runs have
        tried it.
        """
        return self.patchable or self.edit_known

    @property
    def place(self) -> str:
        """`train.py:12:5`, or `train.ipynb:cell 3:2:5`."""
        if self.cell is None:
            return f"{self.path}:{self.line}:{self.column}"
        return f"{self.path}:cell {self.cell}:{self.line}:{self.column}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """A file that was left out, or (`partly`) not followed to its end, and why.

    The rest was scanned.
    """

    path: str
    reason: str
    line: int | None = None
    partly: bool = False

    @property
    def said(self) -> str:
        """Return what became of the file, and why."""
        if self.partly:
            return f"scanned in part: {self.reason}"
        return f"left out: {self.reason}"


class Known(msgspec.Struct, frozen=True, order=True):
    """Findings that a baseline holds.

    path    from the folder of the baseline, with forward slashes
    line    the text of the line, spaces aside
    count   how many there are of them
    """

    path: str
    code: str
    line: str
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What a scan found.

    findings      by file and line, without suppressed ones
    suppressed    those that an ignore comment answers
    known         those that a baseline holds
    gone          what a baseline holds and is not found any more
    unreadable    files left out, or not followed to their end
    files, lines  how much was scanned
    outside       how many files outside of what was asked were read for signatures and seeding only
    unread        how many that are imported were not read at all
    cached        how many of the files were known from the cache
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...] = ()
    known: tuple[Finding, ...] = ()
    gone: tuple[Known, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    files: int = 0
    lines: int = 0
    outside: int = 0
    unread: int = 0
    cached: int = 0

    @property
    def failed(self) -> bool:
        """Return whether there is a finding of severity error or warning."""
        return any(finding.severity != "note" for finding in self.findings)


def file_of(finding: Finding) -> str:
    """Return the file that the patch of a finding changes: that of the finding, or the one in which
    the program is seeded.
    """
    return finding.evidence.get("seed_path", finding.path)
