"""Patches: the text of a file with its findings fixed, everything else as it was.

Nodes are found by the place of a finding, never by searching for text. A finding whose place cannot
be fixed safely is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING

from reprocheck.fixes.edits.changes import Edit, changed, fits
from reprocheck.fixes.edits.imports import headed, place
from reprocheck.fixes.edits.tree import UNREADABLE, Tree
from reprocheck.fixes.patches.attributes import (
    made_deterministic,
    seed_called,
    spelt_right,
    switched_off,
)
from reprocheck.fixes.patches.fixer import Fixer
from reprocheck.fixes.patches.generators import fixed_split, own_seed, seeded_generator
from reprocheck.fixes.patches.order import in_order, one_at_a_time, sorted_files, sorted_set
from reprocheck.fixes.patches.seeding import seeded
from reprocheck.fixes.patches.text_changes import changes_of
from reprocheck.fixes.patches.values import fixed_seed, worker_seed, zeroed
from reprocheck.fixes.seeds import STREAMS
from reprocheck.scan.finding import Finding
from reprocheck.scan.fix_words import TextChange

if TYPE_CHECKING:
    from reprocheck.fixes.fixability import Patched


def _in_one_place(fix: Fixer) -> Fixer:
    """Return a fixer for places that run once in one process.

    Elsewhere its fixed number would make different random streams alike.
    """

    @wraps(fix)
    def fixer(tree: Tree, finding: Finding, number: int) -> Edit | None:
        if finding.may_repeat:
            return None
        return fix(tree, finding, number)

    return fixer


_FIXERS: dict[str, Fixer] = {
    "RC010": spelt_right,
    "RC104": sorted_files,
    **dict.fromkeys(("RC202", "RC301", "RC302", "RC401", "RC406", "RC501", "RC511"), seeded),
    "RC303": zeroed,
    **dict.fromkeys(
        ("RC304", "RC407", "RC502", "RC504", "RC601", "RC705", "RC802"), seeded_generator
    ),
    **dict.fromkeys(("RC402", "RC404"), fixed_seed),
    "RC408": _in_one_place(own_seed),
    "RC409": _in_one_place(seed_called),
    "RC503": worker_seed,
    "RC505": sorted_set,
    "RC508": in_order,
    "RC509": one_at_a_time,
    "RC512": _in_one_place(fixed_split),
    "RC703": made_deterministic,
    "RC706": switched_off,
}

CODES = frozenset(_FIXERS)
"""The rules whose findings can be fixed."""


def patch(text: str, findings: Sequence[Finding]) -> str:
    """Return the text with these findings fixed; unchanged if it cannot be parsed."""
    plan = _plan(text, findings)
    if plan is None or not plan.edits:
        return text
    return _patched(plan.tree, list(plan.edits.values()))


@dataclass(frozen=True, slots=True)
class Mended:
    """The effect of a patch on one finding.

    number   the number of the finding among those given
    changes  the changes in words; empty if they take more than one line
    """

    number: int
    changes: tuple[TextChange, ...]


def fixes(file: Patched) -> list[Mended]:
    """Return the edit for each finding in a file that a patch can fix."""
    plan = _plan(file.text, file.findings)
    if plan is None:
        return []
    mended = []
    for number, edit in sorted(plan.edits.items()):
        after = _patched(plan.tree, [edit.by or edit])
        mended.append(Mended(number, changes_of(file.text, after)))
    return mended


@dataclass(frozen=True, slots=True)
class _Plan:
    """A parsed text, and the edit for each finding in it, by the number of the finding."""

    tree: Tree
    edits: dict[int, Edit]


def _plan(text: str, findings: Sequence[Finding]) -> _Plan | None:
    """Return the plan; None if there is nothing to fix or the text cannot be parsed."""
    numbered = enumerate(findings)
    fixable = [(n, one) for n, one in numbered if one.code in CODES and one.cell is None]
    if not fixable:
        return None
    try:
        tree = Tree(text)
        return _Plan(tree, _edits(tree, fixable))
    except UNREADABLE:
        return None


def _patched(tree: Tree, edits: Sequence[Edit]) -> str:
    module = changed(tree, edits)
    imports = sorted({name for edit in edits for name in edit.imports})
    heads = _heads(edits)
    if heads or imports:
        module = headed(module, place(tree, min(edit.line for edit in edits)), imports, heads)
    return module.code


def _heads(edits: Sequence[Edit]) -> list[tuple[str, str]]:
    """Return the lines for the top of the program.

    One for each function that seeds, with the first number that is asked for.
    """
    heads: dict[tuple[str, str], str] = {}
    for edit in edits:
        for module, call in edit.heads:
            function = call.partition("(")[0]
            heads.setdefault((module, function), call)
    order = {(one.module, one.seed): number for number, one in enumerate(STREAMS)}
    known = sorted(heads, key=lambda head: order.get(head, len(order)))
    return [(module, heads[module, function]) for module, function in known]


def _edits(tree: Tree, findings: Sequence[tuple[int, Finding]]) -> dict[int, Edit]:
    """Return the edit for each finding, by its number; findings that no patch fits are left out."""
    counts: Counter[Fixer] = Counter()
    edits: dict[int, Edit] = {}
    ordered = sorted(findings, key=lambda pair: (pair[1].line, pair[1].column))
    settled: dict[str, Edit] = {}
    for number, finding in ordered:
        fix = _FIXERS[finding.code]
        by = settled.get(finding.evidence.get("stream", ""))
        if fix is seeded and by is not None:
            edits[number] = Edit(line=finding.line, by=by)
            continue
        edit = fix(tree, finding, counts[fix])
        if edit is None:
            continue
        counts[fix] += 1
        settled |= dict.fromkeys(edit.settles, edit)
        edits[number] = replace(edit, line=edit.line or finding.line)
    if fits(tree, list(edits.values())):
        return edits
    return {number: edit for number, edit in edits.items() if fits(tree, [edit.by or edit])}
