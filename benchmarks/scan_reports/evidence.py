"""What each rule of the scan stands on: findings in public code that a reader called right, causes
of public reports that it finds, planted scripts of the corpus that it tells from their twins,
threads and documents that its entry names, and rows of `docs/requirements.md`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.corpus.pairs import SCRIPTS, load
from benchmarks.scan_reports.causes import Outcome
from benchmarks.scan_reports.judgements import judgements
from reprocheck.rules import Entry, catalogue
from reprocheck.scan import scan

REQUIREMENTS = Path(__file__).parents[2] / "docs" / "requirements.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Of one rule.

    right, wrong    findings in public code, by hand
    reports         causes of public reports that it finds where their files are named
    planted         scripts of the corpus, shown by runs to differ, in which it finds something that
                    is not in their reproducible twins
    references      public threads and documents of its entry
    asked           rows of the requirements that name it
    """

    entry: Entry
    right: int
    wrong: int
    reports: int
    planted: int
    references: tuple[str, ...]
    asked: tuple[str, ...]

    @property
    def stands(self) -> bool:
        """Whether there is any."""
        found = self.right + self.reports + self.planted
        return bool(found or self.references or self.asked)


def evidence(outcomes: Iterable[Outcome]) -> list[Evidence]:
    """That of every rule that the scan looks for, in order. It scans the corpus."""
    kept = judgements()
    right = Counter(one.code for one in kept if one.is_right)
    wrong = Counter(one.code for one in kept if not one.is_right)
    reports = Counter(code for one in outcomes if one.by_file for code in one.cause.codes.split())
    planted = _planted()
    asked = _asked()
    return [
        Evidence(
            entry=entry,
            right=right[entry.code],
            wrong=wrong[entry.code],
            reports=reports[entry.code],
            planted=planted[entry.code],
            references=entry.references,
            asked=tuple(asked[entry.code]),
        )
        for entry in catalogue()
        if entry.scan
    ]


def _planted() -> Counter[str]:
    """In how many scripts of the corpus a rule finds something that the twin has not."""
    found: Counter[str] = Counter()
    for pair in load():
        found.update(_codes(pair.script) - _codes(pair.twin))
    return found


@cache
def _codes(script: str) -> frozenset[str]:
    result = scan([SCRIPTS / script], jobs=1)
    return frozenset(one.code for one in result.findings)


def _asked() -> Mapping[str, list[str]]:
    """The rows of the requirements that name a rule."""
    rows: defaultdict[str, list[str]] = defaultdict(list)
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| ([A-Z]\d+) ✓? ?\|", line)
        if row is None:
            continue
        for code in sorted(set(re.findall(r"RC\d{3}", line))):
            rows[code].append(row[1])
    return rows
