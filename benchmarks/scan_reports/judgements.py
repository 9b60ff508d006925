"""Findings of the scan in public code, each read by hand in its source.

`judgements.tsv` has a line for each: round, repository, commit, path, line, rule, severity, `right`
or `wrong`, and the reason in a few words. No code is kept. `round` says which rules were read:
those of the beginning (`tuned`, with which they were changed), or those after one change (`new`),
two (`second`), three (`third`), four (`fourth`), five (`fifth`), six (`sixth`), seven (`seventh`),
eight (`eighth`), nine (`ninth`) and ten of them (`tenth`). A repository is read once, before the
rules are changed with it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "judgements.tsv"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reader says of one finding."""

    round: str
    repository: str
    commit: str
    path: str
    line: int
    code: str
    severity: str
    is_right: bool
    reason: str


def judgements() -> list[Judgement]:
    """All that are kept."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [_judgement(row) for row in rows]


def _judgement(row: dict[str, str]) -> Judgement:
    return Judgement(
        round=row["round"],
        repository=row["repository"],
        commit=row["commit"],
        path=row["path"],
        line=int(row["line"]),
        code=row["rule"],
        severity=row["severity"],
        is_right=row["judgement"] == "right",
        reason=row["reason"],
    )
