"""Switches: names that were misspelt, values that are wrong, functions that were assigned to
instead of called.
"""

from __future__ import annotations

import libcst as cst

from reprocheck.scan.aliases import canonical
from reprocheck.scan.checks import tables
from reprocheck.scan.checks.streams import TITLES
from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.tree import Edit, Tree, is_open, keyword, with_keyword


def spelt_right(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`cudnn.enable = False` as `cudnn.enabled = False`."""
    node, meant = tree.at(finding, cst.Attribute), finding.evidence.get("meant", "")
    if node is None or not meant.isidentifier():
        return None
    return Edit(changes=((node.attr, lambda _: cst.Name(meant)),))


def switched_off(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`cudnn.benchmark = True` as `= False`."""
    match _assignment(tree, finding):
        case cst.Assign(value=cst.Name(value="True") as value):
            return Edit(changes=((value, lambda _: cst.Name("False")),))
    return None


def seed_called(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`numpy.random.seed = 0` as `numpy.random.seed(0)`, and `torch.manual_seed` alone as
    `torch.manual_seed(0)`.
    """
    assign = _assignment(tree, finding)
    if assign is not None and isinstance(assign.value, cst.Integer):
        called = cst.Call(func=assign.targets[0].target, args=[cst.Arg(assign.value)])
        return Edit(
            changes=((assign, lambda _: cst.Expr(called)),),
            settles=_settled(tree, assign.targets[0].target),
        )
    alone = tree.at(finding, cst.Attribute) or tree.at(finding, cst.Name)
    if alone is None or not isinstance(tree.parent(alone), cst.Expr):
        return None
    return Edit(changes=((alone, _with_zero),), settles=_settled(tree, alone))


def _with_zero(function: cst.CSTNode) -> cst.CSTNode:
    called = cst.ensure_type(function, cst.BaseExpression)  # type: ignore[type-abstract]
    return cst.Call(func=called, args=[cst.Arg(cst.Integer("0"))])


def _settled(tree: Tree, function: cst.BaseExpression) -> frozenset[str]:
    """The streams, by their titles, that a function seeds from here on, where it is called at the
    top level of the program.
    """
    known = tables.seeds().get(canonical(tree.name(function)))
    line = tree.statement_of(function)
    if known is None or line is None or tree.parent(line) is not tree.module:
        return frozenset()
    return frozenset(TITLES[stream] for stream in known.streams if stream in TITLES)


def made_deterministic(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`deterministic=True` for fused attention."""
    call = tree.at(finding, cst.Call)
    if call is None or is_open(call) or keyword(call, "deterministic") is not None:
        return None
    return Edit(changes=((call, lambda node: with_keyword(node, "deterministic", "True")),))


def _assignment(tree: Tree, finding: Finding) -> cst.Assign | None:
    """The assignment whose only target, or which itself, is underlined."""
    found: cst.CSTNode | None = tree.at(finding, cst.Assign)
    node = tree.at(finding, cst.Attribute) or tree.at(finding, cst.Name)
    target = tree.parent(node) if node is not None else None
    if isinstance(target, cst.AssignTarget):
        found = tree.parent(target)
    if isinstance(found, cst.Assign) and len(found.targets) == 1:
        return found
    return None
