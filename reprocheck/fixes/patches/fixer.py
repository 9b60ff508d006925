"""What fixes a finding: a function from the tree of its file to an edit."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import libcst as cst

from reprocheck.fixes.edits.changes import Edit
from reprocheck.fixes.edits.tree import Tree
from reprocheck.scan.finding import Finding

Fixer = Callable[["Tree", Finding, int], Edit | None]
"""From the tree, a finding and how many were fixed alike above it, to what to do; None where the
place cannot be fixed safely.
"""


CallFixer = Callable[["Tree", cst.Call, Finding, int], Edit | None]


def on_call(fix: CallFixer) -> Fixer:
    """Return a fixer of calls that hide no argument.

    It is given the call that a finding underlines.
    """

    @wraps(fix)
    def fixer(tree: Tree, finding: Finding, number: int) -> Edit | None:
        call = tree.call_at(finding)
        if call is None:
            return None
        return fix(tree, call, finding, number)

    return fixer
