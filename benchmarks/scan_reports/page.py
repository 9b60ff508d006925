"""The page on reports and judgements, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from benchmarks.scan_reports.causes import Outcome, causes, outcomes
from benchmarks.scan_reports.evidence import Evidence, evidence
from benchmarks.scan_reports.judgements import Judgement, judgements

_MOST_NAMED = 2
"""References of a rule that the table names."""
_Z = 1.96
"""Of a confidence of 95 %."""
_SETS = (
    ("causes.txt", "the rules were changed with these at hand"),
    ("causes_later.txt", "written after the rules were changed, and before they were scanned"),
)
ROUNDS = {
    "tuned": "the rules were changed with these at hand",
    "new": "read after the rules were changed the first time",
    "second": "read after the second change; the rules were changed a third time with these",
    "third": "read after the third change; the rules were changed a fourth time with these",
    "fourth": "read after the fourth change; the rules were changed a fifth time with these",
    "fifth": "read after the fifth change; the rules were changed a sixth time with these",
    "sixth": "read after the sixth change; the rules were changed a seventh time with these",
    "seventh": "read with severities that follow from those; the rules were changed with these",
    "eighth": "read after that; the rules were changed with these",
    "ninth": "read after that again; the rules were changed with these",
    "tenth": "read with the rules as they are",
}
"""The readings, first to last, in words."""


def text() -> str:
    """The whole page."""
    found = {name: list(outcomes(causes(name))) for name, _ in _SETS}
    return "\n".join([*_recall(found), "", *_precision(), "", *_evidence(found), ""])


def wilson(right: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share, after Wilson (1927): both ends between 0 and 1."""
    if not of:
        return 0.0, 1.0
    share = right / of
    scale = 1 + _Z**2 / of
    middle = (share + _Z**2 / (2 * of)) / scale
    half = _Z * math.sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2)) / scale
    return middle - half, middle + half


def _share(right: int, of: int) -> str:
    low, high = wilson(right, of)
    if not of:
        return "none"
    return f"{right} of {of} ({right / of:.0%}, {low:.0%} to {high:.0%})"


def _recall(found: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    yield "# Reported causes that the scan finds"
    yield ""
    yield "Shares with their 95 % intervals (Wilson). Each cause is a program of its own, scanned"
    yield "twice: its file is named, and its folder is."
    yield ""
    yield "| causes | by file | by folder | |"
    yield "|---|---|---|---|"
    for name, what in _SETS:
        by_file = _share(sum(one.by_file for one in found[name]), len(found[name]))
        by_folder = _share(sum(one.by_folder for one in found[name]), len(found[name]))
        yield f"| `{name}` | {by_file} | {by_folder} | {what} |"
    yield ""
    yield "| cause | rule | by file | by folder | report |"
    yield "|---|---|---|---|---|"
    for name, _ in _SETS:
        yield from map(_row, found[name])


def _row(one: Outcome) -> str:
    cause = one.cause
    marks = {True: "found", False: "**missed**"}
    return (
        f"| {cause.name} | {cause.codes} | {marks[one.by_file]} | {marks[one.by_folder]}"
        f" | <{cause.report}> |"
    )


def _precision() -> Iterator[str]:
    yield "# Findings in public code, read by hand"
    yield ""
    yield "| repositories | errors that are right | warnings that are right | |"
    yield "|---|---|---|---|"
    kept = judgements()
    for name, what in ROUNDS.items():
        here = [one for one in kept if one.round == name]
        repositories = len({one.repository for one in here})
        errors, warnings = _of(here, "error"), _of(here, "warning")
        yield f"| {repositories} | {errors} | {warnings} | {what} |"
    yield ""
    yield "| repository | commit | round | right | wrong |"
    yield "|---|---|---|---|---|"
    for repository in sorted({one.repository for one in kept}):
        here = [one for one in kept if one.repository == repository]
        right = sum(one.is_right for one in here)
        first = here[0]
        commit = first.commit[:12]
        yield f"| {repository} | {commit} | {first.round} | {right} | {len(here) - right} |"
    yield ""
    yield "| wrong finding | rule | why |"
    yield "|---|---|---|"
    for one in kept:
        if not one.is_right:
            yield f"| {one.repository} `{one.path}:{one.line}` | {one.code} | {one.reason} |"


def _evidence(found: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    yield "# What each rule stands on"
    yield ""
    yield "Findings in public code by hand; causes of public reports that it finds; planted scripts"
    yield "of the corpus in which it finds something that their reproducible twins have not;"
    yield "threads and documents that its entry names; and rows of `docs/requirements.md`."
    yield ""
    yield "| rule | right | wrong | reports | planted | known from | asked for |"
    yield "|---|---|---|---|---|---|---|"
    rules = evidence(chain.from_iterable(found.values()))
    yield from map(_evidence_row, rules)
    yield ""
    without = [one.entry.code for one in rules if not one.stands]
    yield f"Rules that stand on nothing: {', '.join(without) or 'none'}."


def _evidence_row(one: Evidence) -> str:
    entry = one.entry
    numbers = " | ".join(map(_number, (one.right, one.wrong, one.reports, one.planted)))
    named = ", ".join(one.references[:_MOST_NAMED])
    return f"| {entry.code} {entry.name} | {numbers} | {named} | {' '.join(one.asked)} |"


def _number(number: int) -> str:
    if not number:
        return ""
    return str(number)


def _of(kept: Sequence[Judgement], severity: str) -> str:
    here = [one for one in kept if one.severity == severity]
    return _share(sum(one.is_right for one in here), len(here))
