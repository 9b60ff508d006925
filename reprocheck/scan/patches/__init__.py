"""Patches: the text of a file with its findings mended, everything else as it was.

Nodes are found by the place of a finding, never by searching for text. A finding whose place cannot be mended safely is left alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

import libcst as cst

from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.attributes import made_deterministic, seed_called, spelt_right, switched_off
from reprocheck.scan.patches.generators import fixed_split, own_seed, seeded_generator
from reprocheck.scan.patches.memory import zeroed
from reprocheck.scan.patches.order import in_order, sorted_files, sorted_set
from reprocheck.scan.patches.seeding import headed, place, seeded
from reprocheck.scan.patches.tree import Edit, Mender, Tree, changed
from reprocheck.scan.patches.values import fixed_seed, worker_seed

_MENDERS: dict[str, Mender] = {
    "RC010": spelt_right,
    "RC104": sorted_files,
    "RC301": seeded,
    "RC302": seeded,
    "RC303": zeroed,
    "RC304": seeded_generator,
    "RC401": seeded,
    "RC402": fixed_seed,
    "RC404": fixed_seed,
    "RC406": seeded,
    "RC407": seeded_generator,
    "RC408": own_seed,
    "RC409": seed_called,
    "RC501": seeded,
    "RC502": seeded_generator,
    "RC503": worker_seed,
    "RC504": seeded_generator,
    "RC505": sorted_set,
    "RC508": in_order,
    "RC511": seeded,
    "RC512": fixed_split,
    "RC601": seeded_generator,
    "RC703": made_deterministic,
    "RC705": seeded_generator,
    "RC706": switched_off,
    "RC802": seeded_generator,
}

CODES = frozenset(_MENDERS)
"""The rules whose findings can be mended."""


def patch(text: str, findings: Sequence[Finding]) -> str:
    """The text with these findings mended. As it was where it cannot be parsed."""
    wanted = [one for one in findings if one.code in CODES and one.cell is None]
    if not wanted:
        return text
    try:
        tree = Tree(text)
        return _patched(tree, wanted)
    except (cst.ParserSyntaxError, RecursionError):
        return text


def _patched(tree: Tree, findings: Sequence[Finding]) -> str:
    counts: Counter[Mender] = Counter()
    edits: list[Edit] = []
    lines: list[int] = []
    for finding in sorted(findings, key=lambda one: (one.line, one.column)):
        mend = _MENDERS[finding.code]
        edit = mend(tree, finding, counts[mend])
        if edit is not None:
            counts[mend] += 1
            edits.append(edit)
            lines.append(finding.line)
    module, edits = _applied(tree, edits)
    seeds = {stream for edit in edits for stream in edit.seeds}
    imports = sorted({name for edit in edits for name in edit.imports})
    if seeds or imports:
        module = headed(module, place(tree, min(lines)), imports, sorted(seeds))
    return module.code


def _applied(tree: Tree, edits: list[Edit]) -> tuple[cst.Module, list[Edit]]:
    """The module with the edits, and those that it has: one that does not fit in what is around it is left out."""
    if not _fits(tree, edits):
        edits = [edit for edit in edits if _fits(tree, [edit])]
    return changed(tree, edits), edits


def _fits(tree: Tree, edits: list[Edit]) -> bool:
    try:
        ast.parse(changed(tree, edits).code)
    except (cst.CSTValidationError, SyntaxError):
        return False
    return True
