"""Orders that nothing promises: `sorted` around them, and results in the order in which they were
asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import libcst as cst

from reprocheck.fixes.edits.changes import Edit, called, with_keyword, with_value
from reprocheck.fixes.edits.imports import can_bind, name_of
from reprocheck.fixes.edits.tree import Tree, is_open, keyword, only, positional
from reprocheck.scan.finding import Finding
from reprocheck.scan.names import last_part

_DEEPEST = 4
"""How many variables are followed from a name to a set."""

_TAKERS = frozenset(
    {f"builtins.{name}" for name in ("list", "tuple", "enumerate", "iter", "dict.fromkeys")}
)
"""Calls whose first argument is gone over."""
_KEEP_ORDER = _TAKERS | {"builtins.zip", "builtins.map"}
"""Calls that give what they are given in the same order."""


def sorted_files(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`os.listdir(".")` as `sorted(os.listdir("."))`, `list(folder.glob("*"))` as
    `sorted(folder.glob("*"))`.
    """
    call = tree.at(finding, cst.Call)
    if call is None or tree.binds("sorted"):
        return None
    takers_of_variable = {tree.function(_taker(tree, use)) for use in _uses(tree, call)}
    if "builtins.next" in takers_of_variable:
        return None
    taker = _taker(tree, call)
    match tree.function(taker):
        case "builtins.list":
            return _sorted_instead(taker)
        case "builtins.next":
            return Edit(changes=((call, _iterated),))
    return Edit(changes=((call, _sorted),))


def sorted_set(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`enumerate(set(names))` as `enumerate(sorted(set(names)))`, and the same for loops over
    sets.
    """
    node = tree.at(finding, cst.BaseExpression)  # type: ignore[type-abstract]
    if node is None:
        return None
    function = tree.function(node)
    if function == "builtins.hash":
        return _checksum(tree, cst.ensure_type(node, cst.Call))
    if tree.binds("sorted"):
        return None
    if _is_gone_over(tree, node) and function not in _KEEP_ORDER:
        return Edit(changes=((node, _sorted),))
    return _of_call(tree, node)


def _checksum(tree: Tree, call: cst.Call) -> Edit | None:
    """`hash(name)` as `zlib.crc32(name.encode())`, which is the same number in each process."""
    hashed = only(call)
    if hashed is None or not can_bind(tree, "zlib"):
        return None
    text = tree.module.code_for_node(hashed)
    # expressions below which `.encode()` can be written as they stand
    if not isinstance(hashed, (cst.Name, cst.Attribute, cst.SimpleString)):
        text = f"str({text})"
    number = cst.parse_expression(f"{name_of(tree, 'zlib')}.crc32({text}.encode())")
    return Edit(changes=((call, lambda _: number),), imports=("zlib",))


def in_order(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Results in the order in which they were asked for: `in_order=True`, `pool.imap`, futures
    without `as_completed`.
    """
    call = tree.at(finding, cst.Call)
    if call is None:
        return _option(tree, finding)
    match keyword(call, "in_order", "deterministic"):
        case cst.Arg(value=cst.Name(value="False")) as given:
            return Edit(changes=(with_value(given, "True"),))
    match call.func:
        case cst.Attribute(attr=cst.Name(value="imap_unordered")):
            return Edit(changes=((call, lambda node: called(node, "imap")),))
    if tree.function(call) != "concurrent.futures.as_completed":
        return None
    return _without_waiting(tree, call)


def one_at_a_time(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Return a parallel pipeline as one that calls its function for one sample after the other."""
    call = tree.at(finding, cst.Call)
    # what takes the number of its workers in MindSpore
    if call is not None and last_part(tree.function(call)) in ("map", "batch", "GeneratorDataset"):
        return _with_one(call, "num_parallel_workers")
    given = tree.at(finding, cst.BaseExpression)  # type: ignore[type-abstract]
    if given is None:
        return None
    match tree.parent(given):
        case cst.Arg(keyword=cst.Name(value="num_parallel_calls")) as argument:
            return Edit(changes=(with_value(argument, "1"),))
    return None


def _with_one(call: cst.Call, word: str) -> Edit | None:
    if is_open(call):
        return None
    given = keyword(call, word)
    if given is not None:
        return Edit(changes=(with_value(given, "1"),))
    return Edit(changes=((call, lambda node: with_keyword(node, word, "1")),))


def _option(tree: Tree, finding: Finding) -> Edit | None:
    """`options.deterministic = False` of tf.data."""
    target = tree.at(finding, cst.Attribute)
    if target is None:
        return None
    match tree.assigned_to(target):
        case cst.Name(value="False") as value:
            return Edit(changes=((value, lambda _: cst.Name("True")),))
    return None


def _without_waiting(tree: Tree, call: cst.Call) -> Edit | None:
    """Return the futures themselves, where they are in an order of their own."""
    futures = only(call)
    if futures is None or not _is_gone_over(tree, call):
        return None
    held = tree.value_of(futures) or futures
    # what holds futures in an order of its own
    if not isinstance(held, (cst.List, cst.ListComp, cst.Tuple, cst.Dict, cst.DictComp)):
        return None
    return Edit(changes=((call, lambda node: cst.ensure_type(node, cst.Call).args[0].value),))


def _of_call(tree: Tree, node: cst.BaseExpression) -> Edit | None:
    """Return the set among the arguments of a call; a list of it is sorted where it is made."""
    if not isinstance(node, cst.Call) or is_open(node):
        return None
    function = tree.function(node)
    given = [one.value for one in positional(node)]
    sets = list(filter(partial(_is_set, tree), given))
    goes_over_first = function in _TAKERS or last_part(function) == "join"
    if goes_over_first:
        sets = sets or given[:1]
    match sets:
        case []:
            return _of_list(tree, given)
        case [_] if function == "builtins.list":
            return _sorted_instead(node)
        case [one]:
            return Edit(changes=((one, _sorted),))
    return None


def _of_list(tree: Tree, given: Sequence[cst.BaseExpression]) -> Edit | None:
    """Return the set in `list(names)`, where one of some variables alone holds such a list."""
    held = filter(None, map(tree.value_of, given))
    lists = list(filter(partial(_is_list_of_set, tree), held))
    match lists:
        case [alone]:
            return _of_call(tree, alone)
    return None


def _is_list_of_set(tree: Tree, node: cst.BaseExpression) -> bool:
    if tree.function(node) not in {"builtins.list", "builtins.tuple"}:
        return False
    listed = only(cst.ensure_type(node, cst.Call))
    return listed is not None and _is_set(tree, listed)


def _is_set(tree: Tree, node: cst.BaseExpression, depth: int = 0) -> bool:
    if isinstance(node, cst.BinaryOperation):
        sides = (node.left, node.right)
        is_of_sets = isinstance(node.operator, (cst.BitOr, cst.BitAnd, cst.BitXor, cst.Subtract))
        return is_of_sets and any(_is_set(tree, side, depth) for side in sides)
    makes_set = tree.function(node) in {"builtins.set", "builtins.frozenset"}
    if makes_set or isinstance(node, (cst.Set, cst.SetComp)):
        return True
    if depth >= _DEEPEST:
        return False
    held = tree.value_of(node)
    return held is not None and _is_set(tree, held, depth + 1)


def _is_gone_over(tree: Tree, node: cst.CSTNode) -> bool:
    """Return whether a loop or comprehension goes over it."""
    parent = tree.parent(node)
    return isinstance(parent, cst.For | cst.CompFor) and parent.iter is node


def _uses(tree: Tree, call: cst.Call) -> Collection[cst.CSTNode]:
    """Return where the variable that a call is assigned to is used."""
    match tree.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target), *_]):
            return {*tree.named(target.value)} - {target}
    return ()


def _taker(tree: Tree, node: cst.CSTNode) -> cst.Call | None:
    """Return the call whose first argument a node is."""
    argument, around, *_ = tree.around(node)
    match around:
        case cst.Call(args=[cst.Arg(keyword=None, star="") as first, *_]) if first is argument:
            return around
    return None


def _sorted_instead(call: cst.Call | None) -> Edit:
    """`sorted(...)` for a call of `list`."""
    return Edit(changes=((cst.ensure_type(call, cst.Call).func, lambda _: cst.Name("sorted")),))


def _sorted(node: cst.CSTNode) -> cst.CSTNode:
    return cst.Call(func=cst.Name("sorted"), args=[_bare(node)])


def _iterated(node: cst.CSTNode) -> cst.CSTNode:
    """Return an iterator over the sorted elements, for `next`, which takes no list."""
    return cst.Call(func=cst.Name("iter"), args=[cst.Arg(cst.ensure_type(_sorted(node), cst.Call))])


def _bare(node: cst.CSTNode) -> cst.Arg:
    """Return an argument, without parentheses of its own that the call makes needless."""
    match node:
        case cst.Name() | cst.Attribute() | cst.Call() | cst.BinaryOperation() | cst.Set():
            node = _without_parentheses(node)
    return cst.Arg(node)  # type: ignore[arg-type]


def _without_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression without its parentheses, where there is one pair and no line ends beside
    it.
    """
    match node.lpar, node.rpar:
        case (
            [cst.LeftParen(whitespace_after=cst.SimpleWhitespace())],
            [cst.RightParen(whitespace_before=cst.SimpleWhitespace())],
        ):
            return node.with_changes(lpar=[], rpar=[])
    return node
