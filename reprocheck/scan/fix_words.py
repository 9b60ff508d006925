"""Describe the fix of a finding in words, from the changes of its patch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reprocheck.language import joined, sentences, tr
from reprocheck.language.letters import capital, small, unended
from reprocheck.scan.finding import Finding, file_of

UNSURE = "unsure"
"""The evidence of a finding of which the text does not show whether its patch fits: nothing is
changed, and it is said how.
"""


@dataclass(frozen=True, slots=True)
class TextChange:
    """Code that a patch writes.

    kind  `add` below a line (0: at the top), `write` in place of a line, `import` at the top
    code  the code to write
    line  the line number of the change
    """

    kind: Literal["add", "write", "import"]
    code: str
    line: int = 0


def fix_by(finding: Finding, changes: Sequence[TextChange]) -> str:
    """Return the fix as a sentence: the advice of the check, if any, and what the patch does."""
    if file_of(finding) == finding.path:
        sentence = in_words(changes, finding.line)
    else:
        sentence = joined("", (f"In {file_of(finding)}: ", small(in_words(changes, 0))))
    of_check = finding.evidence.get("fix", "")
    if of_check:
        return tr("{fix}, or {patch}", fix=unended(of_check), patch=small(sentence))
    if not finding.patchable:
        doubt = tr("{sentence}.", sentence=capital(finding.evidence[UNSURE]))
        return sentences(sentence, doubt)
    return sentence


def in_words(changes: Sequence[TextChange], line: int) -> str:
    """Return changes of a file as a sentence.

    `line` is the line of the finding in this file; 0 if the finding is in another file.
    """
    first, *others = (_clause(change, line) for change in changes)
    return tr("{sentence}.", sentence=joined(tr(", and "), (first, *map(small, others))))


def _clause(change: TextChange, line: int) -> str:
    code = change.code
    if change.kind == "import":
        return tr("Add `{listed}` at the top", listed=code)
    if change.kind == "add":
        place = tr("below line {line}", line=change.line) if change.line else tr("at the top")
        return tr("Add `{code}` {place}", code=code, place=place)
    if change.line == line:
        return tr("Write `{code}`", code=code)
    return tr("Write `{code}` in line {line}", code=code, line=change.line)
