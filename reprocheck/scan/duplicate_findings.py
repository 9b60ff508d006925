"""Drop duplicate findings: those whose cause or effect another rule reports at the same place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from reprocheck.scan.finding import Finding

_ANSWERED: Mapping[str, frozenset[str]] = {
    "RC402": frozenset({"RC404", "RC407", "RC504", "RC505"}),
    "RC404": frozenset({"RC407", "RC504", "RC505"}),
    "RC503": frozenset({"RC402", "RC404", "RC407", "RC504", "RC505"}),
    "RC509": frozenset({"RC514"}),
    **dict.fromkeys(("RC304", "RC502", "RC504", "RC601", "RC705", "RC802"), frozenset({"RC407"})),
}
"""What a rule says, others say again of the same expression or of a part of it: a seed that is
drawn from the operating system is one matter, and the generator in it is no second one.
"""


def each_once(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without repetitions of another one of the expression around."""
    kept = []
    for _, group in groupby(sorted(findings, key=_file), key=_file):
        here = list(group)
        kept += [one for one in here if not any(_answers(other, one) for other in here)]
    return kept


def _file(finding: Finding) -> str:
    return finding.path


def _answers(one: Finding, other: Finding) -> bool:
    is_same_matter = other.code in _ANSWERED.get(one.code, ())
    return is_same_matter and _start(one) <= _start(other) and _end(other) <= _end(one)


def _start(finding: Finding) -> tuple[int, int]:
    return finding.joined_line, finding.column


def _end(finding: Finding) -> tuple[int, int]:
    return finding.joined_line + finding.end_line - finding.line, finding.end_column
