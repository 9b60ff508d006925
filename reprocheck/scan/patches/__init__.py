"""Patches: the text of a file with its findings fixed, everything else as it was.

Nodes are found by the place of a finding, never by searching for text. A finding whose place cannot
be fixed safely is left alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import wraps

import libcst as cst

from reprocheck.language import joined
from reprocheck.language.letters import small
from reprocheck.scan.finding import Finding, file_of
from reprocheck.scan.patches.attributes import (
    made_deterministic,
    seed_called,
    spelt_right,
    switched_off,
)
from reprocheck.scan.patches.described import described
from reprocheck.scan.patches.generators import fixed_split, own_seed, seeded_generator
from reprocheck.scan.patches.memory import zeroed
from reprocheck.scan.patches.order import in_order, one_at_a_time, sorted_files, sorted_set
from reprocheck.scan.patches.seeding import SEEDERS, headed, place, seeded
from reprocheck.scan.patches.tree import Edit, Fixer, Tree, changed
from reprocheck.scan.patches.values import fixed_seed, worker_seed


def _in_one_place(fix: Fixer) -> Fixer:
    """Return a fixer of places that run once in one process: elsewhere its number would make
    streams alike that differ.
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
    """Return the text with these findings fixed. As it was where it cannot be parsed."""
    found = _read(text, findings)
    if found is None or not found.edits:
        return text
    return _patched(found.tree, list(found.edits.values()))


@dataclass(frozen=True, slots=True)
class Mended:
    """What a patch does for one finding.

    number  that of the finding among those that were given
    said    what it does; empty where that takes more than a line to say
    """

    number: int
    said: str


def fixes(text: str, findings: Sequence[Finding]) -> list[Mended]:
    """Return what fixes each of the findings, of those that a patch fixes."""
    found = _read(text, findings)
    if found is None:
        return []
    numbers = {id(finding): number for number, finding in enumerate(findings)}
    done = []
    for at, edit in sorted(found.edits.items()):
        finding = found.wanted[at]
        after = _patched(found.tree, [edit.by or edit])
        said = _said(finding, text, after)
        done.append(Mended(numbers[id(finding)], said))
    return done


def _said(finding: Finding, before: str, after: str) -> str:
    """Return what a patch does, for one finding."""
    if file_of(finding) == finding.path:
        return described(before, after, finding.line) or ""
    said = described(before, after, 0)
    if said is None:
        return ""
    return joined("", (f"In {file_of(finding)}: ", small(said)))


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as a tree, the findings that patches are known for, and what fixes each, by its
    number.
    """

    tree: Tree
    wanted: list[Finding]
    edits: dict[int, Edit]


def _read(text: str, findings: Sequence[Finding]) -> _Read | None:
    """None where there is nothing to fix or the text cannot be parsed."""
    wanted = [one for one in findings if one.code in CODES and one.cell is None]
    if not wanted:
        return None
    try:
        tree = Tree(text)
        return _Read(tree, wanted, _edits(tree, wanted))
    except (cst.ParserSyntaxError, RecursionError):
        return None


def _patched(tree: Tree, edits: Sequence[Edit]) -> str:
    module = changed(tree, edits)
    imports = sorted({name for edit in edits for name in edit.imports})
    heads = _heads(edits)
    if heads or imports:
        module = headed(module, place(tree, min(edit.line for edit in edits)), imports, heads)
    return module.code


def _heads(edits: Sequence[Edit]) -> list[tuple[str, str]]:
    """Return the lines for the top of the program: one for each function that seeds, with the first
    number that is asked for.
    """
    heads: dict[tuple[str, str], str] = {}
    for edit in edits:
        for module, call in edit.heads:
            function = call.partition("(")[0]
            heads.setdefault((module, function), call)
    order = {(one.module, one.function): number for number, one in enumerate(SEEDERS.values())}
    known = sorted(heads, key=lambda head: order.get(head, len(order)))
    return [(module, heads[module, function]) for module, function in known]


def _edits(tree: Tree, findings: Sequence[Finding]) -> dict[int, Edit]:
    """Return what fixes each finding, by its number: those left out that no patch fits."""
    counts: Counter[Fixer] = Counter()
    edits: dict[int, Edit] = {}
    ordered = sorted(enumerate(findings), key=lambda one: (one[1].line, one[1].column))
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
    if _fits(tree, list(edits.values())):
        return edits
    return {number: edit for number, edit in edits.items() if _fits(tree, [edit.by or edit])}


def _fits(tree: Tree, edits: Sequence[Edit]) -> bool:
    try:
        ast.parse(changed(tree, edits).code)
    except (cst.CSTValidationError, SyntaxError):
        return False
    return True
