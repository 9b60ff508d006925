"""Fix switches.

Names that were misspelt, values that are wrong, functions that were assigned to instead of called.
"""

from __future__ import annotations

import libcst as cst

from reprocheck.fixes.edits.changes import Edit, with_keyword
from reprocheck.fixes.edits.tree import Tree, keyword, written
from reprocheck.fixes.patches.fixer import on_call
from reprocheck.scan.aliases import canonical
from reprocheck.scan.checks import tables
from reprocheck.scan.checks.streams import TITLES
from reprocheck.scan.finding import Finding


def spelt_right(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Correct a misspelt flag: `cudnn.enable = False` becomes `cudnn.enabled = False`."""
    node, meant = tree.at(finding, cst.Attribute), finding.evidence.get("meant", "")
    if node is None or not meant.isidentifier():
        return None
    return Edit(changes=((node.attr, lambda _: cst.Name(meant)),))


def switched_off(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Switch a flag off: `cudnn.benchmark = True` becomes `cudnn.benchmark = False`."""
    assign = _assignment(tree, finding)
    if assign is None or written(assign.value) != "True":
        return None
    return Edit(changes=((assign.value, lambda _: cst.Name("False")),))


def seed_called(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Call a seeding function: `numpy.random.seed = 0` becomes `numpy.random.seed(0)`.

    A bare `torch.manual_seed` becomes `torch.manual_seed(0)`.
    """
    match _assignment(tree, finding):
        case cst.Assign(targets=[seed], value=cst.Integer() as constant) as assign if tree.once(
            assign
        ):
            call = cst.Expr(cst.Call(func=seed.target, args=[cst.Arg(constant)]))
            settles = _settled(tree, seed.target)
            return Edit(changes=((assign, lambda _: call),), settles=settles)
    alone = _name_at(tree, finding)
    if alone is None or not isinstance(tree.parent(alone), cst.Expr) or not tree.once(alone):
        return None
    return Edit(changes=((alone, _with_zero),), settles=_settled(tree, alone))


def _with_zero(function: cst.CSTNode) -> cst.CSTNode:
    called = cst.ensure_type(function, cst.BaseExpression)  # type: ignore[type-abstract]
    return cst.Call(func=called, args=[cst.Arg(cst.Integer("0"))])


def _settled(tree: Tree, function: cst.BaseExpression) -> frozenset[str]:
    """Return the streams, by their titles, that a function seeds from here on.

    Only if it is called at the top level of the program.
    """
    known = tables.seeds().get(canonical(tree.name(function)))
    line = tree.statement_of(function)
    if known is None or line is None or tree.parent(line) is not tree.module:
        return frozenset()
    return frozenset(TITLES[stream] for stream in TITLES.keys() & known.streams)


@on_call
def made_deterministic(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """Add `deterministic=True` to a call of fused attention."""
    if keyword(call, "deterministic") is not None:
        return None
    return Edit(changes=((call, lambda node: with_keyword(node, "deterministic", "True")),))


def _assignment(tree: Tree, finding: Finding) -> cst.Assign | None:
    """Return the assignment whose only target, or which itself, is underlined."""
    name = _name_at(tree, finding)
    if name is not None:
        return tree.assignment_to(name)
    assign = tree.at(finding, cst.Assign)
    if assign is None:
        return None
    return tree.assignment_to(assign.targets[0].target)


def _name_at(tree: Tree, finding: Finding) -> cst.Attribute | cst.Name | None:
    """Return the dotted name that is underlined."""
    return tree.at(finding, cst.Attribute) or tree.at(finding, cst.Name)
