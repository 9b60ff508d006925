"""Generators of one's own: a constant seed where they have none."""

from __future__ import annotations

import libcst as cst

from reprocheck.scan.checks.seed_values import MAKERS
from reprocheck.scan.finding import Finding
from reprocheck.scan.names import last_part
from reprocheck.scan.patches.seeding import can_bind, seeded, with_generator, with_seed
from reprocheck.scan.patches.tree import (
    Edit,
    Tree,
    argument,
    called,
    filled,
    on_call,
    with_number,
    with_value,
    written,
)
from reprocheck.scan.vocabulary import names

_MAKERS = (*names("generators", "from_system"), "keras.random.SeedGenerator")
_TAKE_A_SEED = {last_part(name): MAKERS[name] for name in _MAKERS}
"""What makes a generator, and the keyword of its seed, which comes first."""
_SISTERS = {"seed": "manual_seed", "from_non_deterministic_state": "from_seed"}
"""Methods that take no seed, each with the one beside it that does."""
_SEED0 = {"Dropout": ("Seed0", 1), "RandomChoiceWithMask": ("seed", 1), "bernoulli": ("seed", 2)}
"""MindSpore's random primitives whose seed is not called `seed`, or is not their first argument."""


@on_call
def seeded_generator(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """`default_rng()` as `default_rng(0)`, `SystemRandom()` as `Random(0)`, `generator.seed()` as
    `generator.manual_seed(0)`.

    Each generator of a file gets a number of its own, so that draws that were different stay
    different. One that is made in a loop, or in a function that is called often, would give the
    same numbers each time: that is left alone.
    """
    if not tree.once(call):
        return None
    if finding.evidence.get("seed_keyword") == "seed":
        return with_seed(call, "seed")
    function = last_part(tree.function(call))
    if function == "SystemRandom":
        return _random(tree, call, number)
    if function in _TAKE_A_SEED:
        return _numbered(tree, call, _TAKE_A_SEED[function], number)
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)), args=[]):
            return _sister(tree, call, method, number)
    return None


def _sister(tree: Tree, call: cst.Call, method: str, number: int) -> Edit | None:
    """The method that takes a number, in place of one that takes none."""
    if method == "seed" and not isinstance(tree.parent(call), cst.Expr):
        # what it gives back is used
        return None
    sister = _SISTERS.get(method)
    if sister is None:
        return None
    return Edit(changes=((call, lambda node: with_number(called(node, sister), number)),))


@on_call
def fixed_split(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """`random_state=0` for a split of scikit-learn, a generator for one of PyTorch; a seed at the
    top for one of another library.
    """
    if tree.function(call).startswith("torch."):
        return with_generator(tree, call)
    return seeded(tree, finding, number)


@on_call
def own_seed(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """`StandardNormal()` of MindSpore as `StandardNormal(seed=1)`, the next as `seed=2`."""
    word, index = _SEED0.get(last_part(tree.function(call)), ("seed", 0))
    value = str(number + 1)
    given = argument(call, word, index=index)
    if given is not None and _is_zero(given.value):
        return Edit(changes=(with_value(given, value),))
    return filled(call, given, word, value)


def _is_zero(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Integer) and value.evaluated_value == 0


def _numbered(tree: Tree, call: cst.Call, word: str, number: int) -> Edit | None:
    given = argument(call, word, "seed")
    if not call.args:
        return Edit(changes=((call, lambda node: with_number(node, number)),))
    return filled(call, given, word, str(number)) or _as_default(tree, given, number)


def _as_default(tree: Tree, given: cst.Arg | None, number: int) -> Edit | None:
    """A number in place of None as the default of the parameter that gives the seed, where it is
    the only thing of its name.
    """
    if given is None:
        return None
    match [tree.parent(one) for one in tree.binds(written(given.value))]:
        case [cst.Param(default=cst.Name(value="None") as default) as parameter]:
            change = (default, lambda _: cst.Integer(str(number)))
            return Edit(changes=(change,), line=tree.line(parameter))
    return None


def _random(tree: Tree, call: cst.Call, number: int) -> Edit | None:
    """Python's generator instead of the operating system's, under the name that the text has for
    it.
    """
    if isinstance(call.func, cst.Attribute) and tree.function(call) == "random.SystemRandom":
        return Edit(changes=((call, lambda node: with_number(called(node, "Random"), number)),))
    if not can_bind(tree, "random"):
        return None
    made = cst.parse_expression(f"random.Random({number})")
    return Edit(changes=((call, lambda _: made),), imports=("random",))
