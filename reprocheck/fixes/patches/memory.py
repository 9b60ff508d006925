"""Memory that nobody filled: zeros instead."""

from __future__ import annotations

import libcst as cst

from reprocheck.fixes.edits.changes import Edit, called
from reprocheck.fixes.edits.tree import Tree, keyword
from reprocheck.fixes.patches.fixer import on_call
from reprocheck.scan.finding import Finding


@on_call
def zeroed(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """Initialize memory: `torch.empty(64)` becomes `torch.zeros(64)`."""
    if not isinstance(call.func, cst.Attribute):
        return None
    filled = {"empty": "zeros", "empty_like": "zeros_like"}.get(call.func.attr.value)
    has_layout = keyword(call, "memory_format") is not None
    if filled is None or (filled == "zeros" and has_layout):
        return None
    return Edit(changes=((call, lambda node: called(node, filled)),))
