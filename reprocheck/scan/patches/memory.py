"""Memory that nobody filled: zeros instead."""

from __future__ import annotations

import libcst as cst

from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.tree import Edit, Tree, called, keyword

_FILLED = {"empty": "zeros", "empty_like": "zeros_like"}


def zeroed(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`torch.empty(64)` as `torch.zeros(64)`."""
    call = tree.call_at(finding)
    if call is None or not isinstance(call.func, cst.Attribute):
        return None
    filled = _FILLED.get(call.func.attr.value)
    if filled is None or (filled == "zeros" and keyword(call, "memory_format") is not None):
        return None
    return Edit(changes=((call, lambda node: called(node, filled)),))
