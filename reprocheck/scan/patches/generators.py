"""Generators of one's own: a constant seed where they have none."""

from __future__ import annotations

import libcst as cst

from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.seeding import can_bind, seeded, with_generator, with_seed
from reprocheck.scan.patches.tree import (
    Edit,
    Tree,
    called,
    is_none,
    is_open,
    keyword,
    last,
    positional,
    with_keyword,
    with_value,
)

_TAKE_A_SEED = {
    "default_rng": "seed",
    "RandomState": "seed",
    "SeedSequence": "entropy",
    "PCG64": "seed",
    "MT19937": "seed",
    "Philox": "seed",
    "SFC64": "seed",
    "PCG64DXSM": "seed",
    "Random": "x",
    "SeedGenerator": "seed",
}
"""What makes a generator, and the keyword of its seed, which comes first."""
_SEED0 = {"Dropout": ("Seed0", 1), "RandomChoiceWithMask": ("seed", 1), "bernoulli": ("seed", 2)}
"""MindSpore's random primitives whose seed is not called `seed`, or is not their first argument."""


def seeded_generator(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`default_rng()` as `default_rng(0)`, `SystemRandom()` as `Random(0)`, `generator.seed()` as
    `generator.manual_seed(0)`.

    Each generator of a file gets a number of its own, so that draws that were different stay
    different. One that is made in a loop, or in a function that is called often, would give the
    same numbers each time: that is left alone.
    """
    call = tree.at(finding, cst.Call)
    if call is None or is_open(call) or not tree.once(call):
        return None
    if finding.evidence.get("seed_keyword") == "seed":
        return with_seed(tree, finding, "seed")
    name = tree.name(call.func)
    if last(name) == "SystemRandom":
        return _random(tree, call, number)
    if last(name) in _TAKE_A_SEED:
        return _numbered(tree, call, _TAKE_A_SEED[last(name)], number)
    if not isinstance(call.func, cst.Attribute) or call.args:
        return None
    if call.func.attr.value == "seed" and isinstance(tree.parent(call), cst.Expr):
        return Edit(
            changes=((call, lambda node: _with_number(called(node, "manual_seed"), number)),)
        )
    if call.func.attr.value == "from_non_deterministic_state":
        return Edit(changes=((call, lambda node: _with_number(called(node, "from_seed"), number)),))
    return None


def fixed_split(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`random_state=0` for a split of scikit-learn, a generator for one of PyTorch; a seed at the
    top for one of another library.
    """
    call = tree.at(finding, cst.Call)
    if call is None or is_open(call):
        return None
    if tree.name(call.func).startswith("torch."):
        return with_generator(tree, call)
    return seeded(tree, finding, number)


def own_seed(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`StandardNormal()` of MindSpore as `StandardNormal(seed=1)`, the next as `seed=2`."""
    call = tree.at(finding, cst.Call)
    if call is None or is_open(call):
        return None
    word, index = _SEED0.get(last(tree.name(call.func)), ("seed", 0))
    value = str(number + 1)
    given = keyword(call, word) or next(iter(positional(call)[index : index + 1]), None)
    if given is None:
        return Edit(changes=((call, lambda node: with_keyword(node, word, value)),))
    zero = is_none(given.value) or (
        isinstance(given.value, cst.Integer) and given.value.evaluated_value == 0
    )
    return Edit(changes=(with_value(given, value),)) if zero else None


def _numbered(tree: Tree, call: cst.Call, word: str, number: int) -> Edit | None:
    given = keyword(call, word, "seed") or next(iter(positional(call)), None)
    if given is not None and not is_none(given.value):
        return _as_default(tree, given.value, number)
    if given is not None:
        return Edit(changes=(with_value(given, str(number)),))
    if call.args:
        return Edit(changes=((call, lambda node: with_keyword(node, word, str(number))),))
    return Edit(changes=((call, lambda node: _with_number(node, number)),))


def _as_default(tree: Tree, value: cst.BaseExpression, number: int) -> Edit | None:
    """A number in place of None as the default of the parameter that gives the seed, where it is
    the only thing of its name.
    """
    bound = tree.binds(value.value) if isinstance(value, cst.Name) else ()
    parameter = tree.parent(bound[0]) if len(bound) == 1 else None
    if (
        not isinstance(parameter, cst.Param)
        or parameter.default is None
        or not is_none(parameter.default)
    ):
        return None
    return Edit(
        changes=((parameter.default, lambda _: cst.Integer(str(number))),),
        line=tree.line(parameter),
    )


def _random(tree: Tree, call: cst.Call, number: int) -> Edit | None:
    """Python's generator instead of the operating system's, under the name that the text has for
    it.
    """
    if isinstance(call.func, cst.Attribute) and tree.name(call.func) == "random.SystemRandom":
        return Edit(changes=((call, lambda node: _with_number(called(node, "Random"), number)),))
    if not can_bind(tree, "random"):
        return None
    made = cst.parse_expression(f"random.Random({number})")
    return Edit(changes=((call, lambda _: made),), imports=("random",))


def _with_number(node: cst.CSTNode, number: int) -> cst.CSTNode:
    return cst.ensure_type(node, cst.Call).with_changes(args=[cst.Arg(cst.Integer(str(number)))])
