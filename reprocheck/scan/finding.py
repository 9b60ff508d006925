"""The result of a scan: findings, and files that it could not read."""

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
        """Return whether the place of the finding may run more than once.

        It may run in several processes, too: see `checks.repetition`.
        """
        return not self.evidence.keys().isdisjoint(("repeats", "ranks"))

    @property
    def is_editable(self) -> bool:
        """Return whether an edit for the finding is known, even one that runs must first try."""
        return self.patchable or self.edit_known

    @property
    def place(self) -> str:
        """Return the place: `train.py:12:5`, or `train.ipynb:cell 3:2:5`."""
        if self.cell is None:
            return f"{self.path}:{self.line}:{self.column}"
        return f"{self.path}:cell {self.cell}:{self.line}:{self.column}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """A file that was left out, or (`partly`) not followed to its end, and the reason."""

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
    """Equal findings in a baseline.

    path    relative to the folder of the baseline, with forward slashes
    code    the code of the rule
    line    the text of the line, without spaces around it
    count   how many such findings the file has
    """

    path: str
    code: str
    line: str
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The result of a scan.

    findings      new findings by file and line, without suppressed ones
    suppressed    findings that an ignore comment suppresses
    known         findings that the baseline contains
    gone          findings of the baseline that no longer occur
    unreadable    files left out, or not followed to their end
    files, lines  how many files and lines were scanned
    outside       number of imported files that lie outside of the scanned paths, and were read only
                  for function signatures and seeding
    unread        number of imported files that were not read at all
    cached        number of scanned files whose findings came from the cache
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
    """Return the file that the patch of a finding changes.

    That of the finding, or the one in which the program is seeded.
    """
    return finding.evidence.get("seed_path", finding.path)
