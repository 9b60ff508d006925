"""Generators of one's own: a constant seed where they have none."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from reprocheck.fixes.edits.changes import (
    Change,
    Edit,
    called,
    filled,
    in_place_of,
    with_number,
    with_value,
)
from reprocheck.fixes.edits.imports import can_bind, name_of
from reprocheck.fixes.edits.tree import Tree, argument, written
from reprocheck.fixes.patches.fixer import on_call
from reprocheck.fixes.patches.seeding import seeded, with_generator, with_seed
from reprocheck.fixes.seeds import DRAWN_SEED, MAKERS_WITH_SEED, PRIMITIVES, WITH_NUMBER
from reprocheck.scan.finding import Finding
from reprocheck.scan.names import last_part
from reprocheck.scan.vocabulary import words

_MAKE_SAMPLES = words("generators", "samples") | {"__iter__", "__call__"}
"""Methods that make a sample, or a stream of them."""


@on_call
def seeded_generator(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """Seed a generator: `default_rng()` becomes `default_rng(0)`.

    `SystemRandom()` becomes `Random(0)`, `generator.seed()` becomes `generator.manual_seed(0)`.

    Each generator of a file gets a number of its own, so that draws that were different stay
    different. One that is made more than once draws its seed each time; one that is copied into
    data workers is made anew for each sample.
    """
    repeats = finding.evidence.get("repeats", "")
    if "ranks" in finding.evidence:
        return None
    if not repeats:
        if not tree.once(call):
            return None
        if finding.evidence.get("seed_keyword") == "seed":
            return with_seed(call, "seed")
        return _seeded(tree, call, str(number))
    if repeats == "apart" or not finding.evidence.get("torch") or not can_bind(tree, "torch"):
        return None
    edit = _seeded(tree, call, DRAWN_SEED.format(torch=name_of(tree, "torch")))
    if edit is not None and repeats == "copied":
        edit = _for_each_sample(tree, call, edit)
    if edit is None or finding.evidence["torch"] == "program":
        return edit
    return replace(edit, heads=(("torch", "manual_seed(0)"),))


def _seeded(tree: Tree, call: cst.Call, number: str) -> Edit | None:
    """Return the making or the seeding of a generator with the number of an expression."""

    def renamed(name: str) -> Edit:
        """Return the call of a function with another last name, given the number."""
        return Edit(changes=((call, lambda node: with_number(called(node, name), number)),))

    function = last_part(tree.function(call))
    if function == "SystemRandom":
        # Python's generator instead, under the name that the text has for it
        if isinstance(call.func, cst.Attribute) and tree.function(call) == "random.SystemRandom":
            return renamed("Random")
        if not can_bind(tree, "random"):
            return None
        return Edit(changes=(in_place_of(call, f"random.Random({number})"),), imports=("random",))
    if function in MAKERS_WITH_SEED:
        if not call.args:
            return Edit(changes=((call, lambda node: with_number(node, number)),))
        word = MAKERS_WITH_SEED[function]
        given = argument(call, word, "seed")
        return filled(call, given, word, number) or _as_default(tree, given, number)
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)), args=[]):
            sister = WITH_NUMBER.get(method)
            is_result_used = not isinstance(tree.parent(call), cst.Expr)
            if sister is not None and not (method == "seed" and is_result_used):
                return renamed(sister)
    return None


def _for_each_sample(tree: Tree, call: cst.Call, edit: Edit) -> Edit | None:
    """Return an attribute that holds a generator, set anew by each method that makes a sample.

    A data worker has a copy of what the object held before.

    None where other code uses it, or it is no attribute.
    """
    name = _attribute(tree, call)
    methods = _sample_methods(tree, call, name)
    if not methods or edit.changes[0][0] is not call:
        return None
    made = tree.module.code_for_node(edit.changes[0][1](call))
    changes: tuple[tuple[cst.CSTNode, Change], ...] = ((call, lambda _: cst.Name("None")),)
    first = tuple((method, f"self.{name} = {made}") for method in methods)
    return replace(edit, changes=changes, first=first)


def _attribute(tree: Tree, call: cst.Call) -> str:
    """Return the attribute of an object to which only a call is assigned; empty if there is none.

    It is assigned in a method or in the body of its class.
    """
    match tree.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            owner, _, name = written(target).rpartition(".")
            in_class = isinstance(tree.nearest(call, cst.FunctionDef, cst.ClassDef), cst.ClassDef)
            if owner == "self" or (in_class and not owner):
                return name
    return ""


def _sample_methods(tree: Tree, call: cst.Call, name: str) -> list[cst.FunctionDef]:
    """Return the methods that make samples with an attribute of their object.

    Themselves or by others of its methods; none where something else may use it.
    """
    owner = tree.nearest(call, cst.ClassDef)
    bases = (base.value for one in tree.every(cst.ClassDef) for base in one.bases)
    if owner is None or not name or owner.name.value in map(written, bases):
        return []
    found: list[cst.FunctionDef] = []
    names = [name]
    for one in names:
        methods = _methods_with(tree, owner, call, one)
        if not methods or any(method.name.value == "__init__" for method in methods):
            return []
        makes_sample = [method for method in methods if method.name.value in _MAKE_SAMPLES]
        found += [method for method in makes_sample if method not in found]
        others = [method.name.value for method in methods if method not in makes_sample]
        names += [other for other in others if other not in names]
    return found


def _methods_with(
    tree: Tree, owner: cst.ClassDef, call: cst.Call, name: str
) -> list[cst.FunctionDef]:
    """Return the methods of a class that use an attribute of their object.

    None where it is used from elsewhere, too.
    """
    methods = []
    for use in [one for one in tree.every(cst.Attribute) if one.attr.value == name]:
        method = tree.nearest(use, cst.FunctionDef)
        if method is None or written(use.value) != "self":
            return []
        if tree.nearest(use, cst.ClassDef) is owner and tree.assigned_to(use) is not call:
            methods.append(method)
    return methods


@on_call
def fixed_split(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """Fix a random split: `random_state=0` for scikit-learn, a generator for PyTorch.

    Another library gets a seed at the top.
    """
    if tree.function(call).startswith("torch."):
        return with_generator(tree, call)
    return seeded(tree, finding, number)


@on_call
def own_seed(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """Give each operator of MindSpore a seed.

    `StandardNormal()` becomes `StandardNormal(seed=1)`, the next `seed=2`.
    """
    word, index = PRIMITIVES.get(last_part(tree.function(call)), ("seed", 0))
    value = str(number + 1)
    given = argument(call, word, index=index)
    match given:
        case cst.Arg(value=cst.Integer(evaluated_value=0)):
            return Edit(changes=(with_value(given, value),))
    return filled(call, given, word, value)


def _as_default(tree: Tree, given: cst.Arg | None, number: str) -> Edit | None:
    """Return a number in place of None as the default of the parameter that gives the seed.

    Only if nothing else has the name of the parameter.
    """
    if given is None:
        return None
    match [tree.parent(one) for one in tree.binds(written(given.value))]:
        case [cst.Param(default=cst.Name(value="None") as default) as parameter]:
            change = (default, lambda _: cst.parse_expression(number))
            return Edit(changes=(change,), line=tree.line(parameter))
    return None
